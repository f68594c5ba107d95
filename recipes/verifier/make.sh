#!/bin/sh
# Makes the verifier's weights: make.sh DATA BASE OUT [LARGER]. DATA is the folder of datasets; BASE a
# cross-encoder/ms-marco-MiniLM-L-12-v2 with model.safetensors and config.json; OUT a new folder. The verifier learns from
# labels and from what two larger ones said of the same pairs (said.npz). With other data that file does not fit: then give
# LARGER, an all-mpnet-base-v2; it is trained first and judges all pairs. Run it again to go on where it was ended.
# A GPU is used where torch finds one: the verifier takes five minutes then (an H100); without, about a day, by estimate.
# Needs the extra [train]. To train on a machine with nothing but torch, numpy and safetensors, take OUT/data.npz,
# OUT/base.npz, OUT/taught.npy and the folder gpu/ there. CONFIGS names another folder of teacher.json and verifier.json.
set -eu
[ $# -eq 3 ] || [ $# -eq 4 ] || { echo "expected make.sh DATA BASE OUT [LARGER]; found $# arguments" >&2; exit 2; }
data=$1 base=$2 out=$3 larger=${4:-}
here=$(dirname "$0")
configs=${CONFIGS:-$here}
[ ! -e "$out/model.safetensors" ] || { echo "expected OUT to be a new folder; found a model in $out" >&2; exit 2; }
vericite=${VERICITE:-vericite}
release=${VERICITE_RELEASE:-"python3 $here/release"}
mix=${VERICITE_MIX:-"python3 $here/mix"}
gpu=${VERICITE_GPU:-"python3 $here/gpu"}
repo=$here/../..

. "$here/steps.sh"

mkdir -p "$out"
into mix $mix --data "$data" --out {} --reworded "$here/dev/reworded.jsonl" --paraphrased "$here/paraphrased.jsonl" \
  --written "$here/written.jsonl" --written "$here/written-2.jsonl" --written "$here/written-3.jsonl" \
  --written "$here/written-4.jsonl"
into pool.jsonl $gpu pool "$out/mix" {}
into data.npz $gpu arrays "$out/mix" "$out/pool.jsonl" {}
into base.npz $gpu base "$base" "$out/data.npz" {} --layers 9
if [ "$larger" ]; then
  into larger.npz $gpu base "$larger" "$out/data.npz" {}
  into teacher $gpu fit "$out/data.npz" "$out/larger.npz" --name teacher --out {} --config "$configs/teacher.json" \
    --label train,pool
  into taught.npy $gpu mean "$out/data.npz" "$out/teacher" {} teacher:1
else
  into taught.npy $gpu kept "$out/data.npz" "$here/said.npz" {} language:0.6 encoder:0.4
fi
into verifier $gpu fit "$out/data.npz" "$out/base.npz" --name verifier --out {} --config "$configs/verifier.json" \
  --taught "$out/taught.npy"
into checkpoint $gpu checkpoint "$base" "$out/data.npz" "$out/verifier/verifier.safetensors" {}
# With a temperature it is whole; packed alone it is not.
if [ ! -e "$out/calibrated" ]; then
  rm -rf "$out/part-calibrated"
  $vericite train pack "$out/checkpoint/model.safetensors" "$repo/src/vericite/models/weights/reranker-v3/tokenizer.json" \
    "$here/card.json" "$repo/src/vericite/corpus/demo/documents.jsonl" "$out/part-calibrated"
  $release calibrate --model "$out/part-calibrated" --dev "$out/mix/dev" --documents --write
  mv "$out/part-calibrated" "$out/calibrated"
fi
into packed $release exits --model "$out/calibrated" --out {} --dev "$out/mix/dev" --pairs "$out/pool.jsonl" \
  --pairs "$out/mix/train.jsonl" --layers 3 6 --count 16000
