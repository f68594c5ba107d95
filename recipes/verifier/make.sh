#!/bin/sh
# Makes the verifier's weights: make.sh DATA BASE OUT [LARGER]. DATA is the folder of datasets, BASE an all-MiniLM-L6-v2,
# LARGER an all-mpnet-base-v2, each with model.safetensors and config.json; OUT a new folder. Run it again to go on where
# it was ended. Without LARGER it ends with version 2, OUT/4-second-packed; with it there are also OUT/teacher-packed, for
# `--judge packed:OUT/teacher-packed`, and what ships, OUT/5-taught-packed, taught by both.
# Needs the extra [train]. Where libjemalloc2 is installed it is used: glibc's allocator searches long lists of free pieces.
set -eu
[ $# -ge 3 ] || { echo "expected make.sh DATA BASE OUT [LARGER]; found $# arguments" >&2; exit 2; }
data=$1 base=$2 out=$3 larger=${4:-}
here=$(dirname "$0")
vericite=${VERICITE:-vericite}
release=${VERICITE_RELEASE:-"python3 $here/release"}
mix=${VERICITE_MIX:-"python3 $here/mix"}
for allocator in /usr/lib/*/libjemalloc.so.2; do
  [ -e "$allocator" ] && export LD_PRELOAD="$allocator" MALLOC_CONF=dirty_decay_ms:3000,muzzy_decay_ms:3000
done

step() { # NAME CONFIG DATA BASE EXAMPLES [SEED [exec]]
  [ -e "$out/$1/model/tokenizer.json" ] && return
  resume=$([ -e "$out/$1/manifest.json" ] && echo --resume || true)
  ${7:-} $vericite train fit --data "$3" --base "$4" --out "$out/$1" --config "$here/$2.json" --examples "$5" \
    ${6:+--seed "$6"} $resume
}

# Two runs side by side, each on a core of its own, and the mean of their weights: on two cores that is nearly twice
# as fast as one run on both.
round() { # NAME DATA BASE EXAMPLES SEED SEED
  [ -e "$out/$1/model/model.safetensors" ] && return
  step "$1-$5" "$1" "$2" "$3" "$4" "$5" exec &
  beside=$!
  # Left alone it would go on behind a script that has ended.
  trap 'code=$?; kill "$beside" 2>/dev/null || true; wait "$beside" || true; exit $code' EXIT
  trap 'exit 130' INT TERM
  step "$1-$6" "$1" "$2" "$3" "$4" "$6"
  wait "$beside"
  trap - EXIT INT TERM
  $release average "$out/$1-$5/model" "$out/$1-$6/model" --out "$out/$1/model"
}

# Ended between both steps it would have a card, but not the temperature that `teach` asks it at: only what both have
# done gets the name that is looked for.
pack() { # RUN CARD
  [ -e "$out/$1-packed/card.json" ] && return
  $vericite train pack "$out/$1/model/model.safetensors" "$out/1-warmup/model/tokenizer.json" \
    "$here/$2.json" "$here/../../src/vericite/corpus/demo/documents.jsonl" "$out/$1-packed.part"
  $release calibrate --model "$out/$1-packed.part" --dev "$out/mix-3/dev" --documents --write
  # One without a card may be there: what was stopped before packing was done aside.
  rm -rf "$out/$1-packed"
  mv "$out/$1-packed.part" "$out/$1-packed"
}

mkdir -p "$out"
[ -e "$out/mix-3/manifest.json" ] || $mix --data "$data" --out "$out/mix-3" --reworded "$here/dev/reworded.jsonl" \
  --written "$here/written.jsonl"
step 1-warmup 1-warmup "$out/mix-3/warmup.jsonl" "$base" 58998
step 2-natural 2-natural "$out/mix-3/train.jsonl" "$out/1-warmup/model" 50000
step 3-mix 3-mix "$out/mix-3/train.jsonl" "$out/2-natural/model" 180000
round 4-first "$out/mix-3/train.jsonl" "$out/3-mix/model" 70000 41 42
round 4-second "$out/mix-3/train.jsonl" "$out/4-first/model" 40000 51 52
pack 4-second card-2
[ -n "$larger" ] || exit 0
[ -e "$out/mix-5/manifest.json" ] || $mix --data "$data" --out "$out/mix-5" --reworded "$here/dev/reworded.jsonl" \
  --written "$here/written.jsonl" --written "$here/written-2.jsonl" --written "$here/written-3.jsonl" \
  --paraphrased "$here/paraphrased.jsonl"
step teacher-warmup teacher-1-warmup "$out/mix-5/warmup.jsonl" "$larger" 10000
step teacher teacher-2-mix "$out/mix-5/train.jsonl" "$out/teacher-warmup/model" 28500
pack teacher teacher-card
# Those two err on different pairs: their mean is better than either. What is excluded is learnt from by its labels alone:
# written claims and made findings, because who made them knows their labels; whole abstracts, because they are too long to
# be judged twice. All of it goes in; 5-taught.json says how often written claims, made findings and long pairs come. The labelled pairs that were not drawn
# stay out: they are twice as many as the taught ones, and no rate could make them fewer, as they are of the same kinds.
if [ ! -e "$out/all.jsonl" ]; then
  $release teach --teacher "$out/teacher-packed" --weight 0.6 --teacher "$out/4-second-packed" --weight 0.4 \
    --data "$out/mix-5/unlabelled.jsonl" "$out/mix-5/train.jsonl" --take 25000 --exclude written \
    --exclude-kind abstract --exclude-kind section --exclude-kind two-section --out "$out/taught.jsonl" --rest "$out/rest.jsonl"
  cat "$out/taught.jsonl" "$out/rest.jsonl" > "$out/all.part"
  mv "$out/all.part" "$out/all.jsonl"
fi
round 5-taught "$out/all.jsonl" "$out/4-second/model" 21000 91 92
pack 5-taught card
