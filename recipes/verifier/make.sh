#!/bin/sh
# Makes the verifier's weights: make.sh DATA BASE OUT. DATA is the folder of datasets, BASE an all-MiniLM-L6-v2 with
# model.safetensors and config.json, OUT a new folder; run it again to go on where it was ended.
# On two cores its steps took 110 minutes beside other work. Needs the extra [train].
set -eu
data=$1 base=$2 out=$3
here=$(dirname "$0")
vericite=${VERICITE:-vericite}

step() { # NAME DATA BASE EXAMPLES
  [ -e "$out/$1/model/tokenizer.json" ] && return
  resume=$([ -e "$out/$1/manifest.json" ] && echo --resume || true)
  $vericite train fit --data "$2" --base "$3" --out "$out/$1" --config "$here/$1.json" --examples "$4" $resume
}

mkdir -p "$out"
[ -e "$out/mix/manifest.json" ] || $vericite train mix --data "$data" --out "$out/mix" --reworded "$here/dev/reworded.jsonl"
step 1-warmup "$out/mix/warmup.jsonl" "$base" 58998
step 2-natural "$out/mix/train.jsonl" "$out/1-warmup/model" 50000
step 3-mix "$out/mix/train.jsonl" "$out/2-natural/model" 180000
$vericite train pack "$out/3-mix/model/model.safetensors" "$out/3-mix/model/tokenizer.json" \
  "$here/card.json" "$here/../../src/vericite/corpus/demo/documents.jsonl" "$out/packed"
$vericite train calibrate --model "$out/packed" --dev "$out/mix/dev" --documents --write
