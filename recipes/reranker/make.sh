#!/bin/sh
# Makes the reranker's weights: make.sh DATA BASE OUT. DATA is the folder of datasets; BASE a folder with
# model.safetensors and config.json, which for the shipped weights was 1-warmup/model of the verifier's recipe; OUT a
# new folder. Run it again to go on where it was ended. OUT/packed is what ships. Needs the extras [train] and [eval].
# Where libjemalloc2 is installed it is used: glibc's allocator searches long lists of free pieces.
set -eu
[ $# -eq 3 ] || { echo "expected make.sh DATA BASE OUT; found $# arguments" >&2; exit 2; }
data=$1 base=$2 out=$3
here=$(dirname "$0")
vericite=${VERICITE:-vericite}
for allocator in /usr/lib/*/libjemalloc.so.2; do
  [ -e "$allocator" ] && export LD_PRELOAD="$allocator" MALLOC_CONF=dirty_decay_ms:3000,muzzy_decay_ms:3000
done

mkdir -p "$out"
[ -e "$out/lists/manifest.json" ] || $vericite train relevance lists --data "$data" --out "$out/lists"
if [ ! -e "$out/run/model/tokenizer.json" ]; then
  resume=$([ -e "$out/run/manifest.json" ] && echo --resume || true)
  $vericite train relevance fit --data "$out/lists/train.jsonl" --base "$base" --out "$out/run" \
    --config "$here/fit.json" --lists 2400 $resume
fi
[ -e "$out/calibrated/calibration.json" ] || $vericite train relevance calibrate --model "$out/run/model" \
  --dev "$out/lists/dev.jsonl" --out "$out/calibrated"
[ -e "$out/packed/card.json" ] || $vericite train pack "$out/calibrated/model.safetensors" \
  "$out/calibrated/tokenizer.json" "$here/card.json" "$here/../../src/vericite/corpus/demo/documents.jsonl" "$out/packed"
$vericite train relevance score --dev "$out/lists/dev.jsonl" --model "$out/calibrated" --model "$out/packed"
