#!/bin/sh
# Makes the verifier's weights: make.sh DATA BASE OUT [LARGER]. DATA is the folder of datasets, BASE an all-MiniLM-L6-v2,
# LARGER an all-mpnet-base-v2, each with model.safetensors and config.json; OUT a new folder. Run it again to go on where
# it was ended. OUT/3-mix-packed is what ships. With LARGER there are also OUT/teacher-packed, for
# `--judge packed:OUT/teacher-packed`, and OUT/4-taught-packed, the small model taught by it.
# Needs the extra [train]. Where libjemalloc2 is installed it is used: glibc's allocator searches long lists of free pieces.
set -eu
[ $# -ge 3 ] || { echo "expected make.sh DATA BASE OUT [LARGER]; found $# arguments" >&2; exit 2; }
data=$1 base=$2 out=$3 larger=${4:-}
here=$(dirname "$0")
vericite=${VERICITE:-vericite}
for allocator in /usr/lib/*/libjemalloc.so.2; do
  [ -e "$allocator" ] && export LD_PRELOAD="$allocator" MALLOC_CONF=dirty_decay_ms:3000,muzzy_decay_ms:3000
done

step() { # NAME CONFIG DATA BASE EXAMPLES
  [ -e "$out/$1/model/tokenizer.json" ] && return
  resume=$([ -e "$out/$1/manifest.json" ] && echo --resume || true)
  $vericite train fit --data "$3" --base "$4" --out "$out/$1" --config "$here/$2.json" --examples "$5" $resume
}

pack() { # RUN CARD
  [ -e "$out/$1-packed/card.json" ] && return
  $vericite train pack "$out/$1/model/model.safetensors" "$out/1-warmup/model/tokenizer.json" \
    "$here/$2.json" "$here/../../src/vericite/corpus/demo/documents.jsonl" "$out/$1-packed"
  $vericite train calibrate --model "$out/$1-packed" --dev "$out/mix/dev" --documents --write
}

mkdir -p "$out"
[ -e "$out/mix/manifest.json" ] || $vericite train mix --data "$data" --out "$out/mix" --reworded "$here/dev/reworded.jsonl"
step 1-warmup 1-warmup "$out/mix/warmup.jsonl" "$base" 58998
step 2-natural 2-natural "$out/mix/train.jsonl" "$out/1-warmup/model" 50000
step 3-mix 3-mix "$out/mix/train.jsonl" "$out/2-natural/model" 180000
pack 3-mix card
[ -n "$larger" ] || exit 0
step teacher-warmup teacher-1-warmup "$out/mix/warmup.jsonl" "$larger" 14000
step teacher teacher-2-natural "$out/mix/train.jsonl" "$out/teacher-warmup/model" 34000
pack teacher teacher-card
$vericite train teach --teacher "$out/teacher-packed" --data "$out/mix/untold.jsonl" "$out/mix/train.jsonl" --take 27000 \
  --out "$out/taught.jsonl" --rest "$out/rest.jsonl"
cat "$out/taught.jsonl" "$out/rest.jsonl" > "$out/all.part"
mv "$out/all.part" "$out/all.jsonl"
step 4-taught 4-taught "$out/all.jsonl" "$out/3-mix/model" 62000
pack 4-taught card
