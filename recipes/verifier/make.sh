#!/bin/sh
# Makes the verifier's weights: make.sh DATA BASE LARGER OUT [CONFIGS]. DATA is the folder of datasets; BASE a
# cross-encoder/ms-marco-MiniLM-L-12-v2 and LARGER an all-mpnet-base-v2, each with model.safetensors and config.json; OUT a
# new folder; CONFIGS another folder of teacher.json and verifier.json than this one. A larger verifier is trained first and
# judges all pairs; the one that ships learns from labels and from what it said. Run it again to go on where it was ended.
# A GPU is used where torch finds one: both runs then take some five minutes (an H100); without, about a day, by estimate.
# Needs the extra [train]. To train on a machine with nothing but torch, numpy and safetensors, take OUT/data.npz, the
# two bases and the folder gpu/ there.
set -eu
[ $# -ge 4 ] || { echo "expected make.sh DATA BASE LARGER OUT; found $# arguments" >&2; exit 2; }
data=$1 base=$2 larger=$3 out=$4
here=$(dirname "$0")
configs=${5:-$here}
vericite=${VERICITE:-vericite}
release=${VERICITE_RELEASE:-"python3 $here/release"}
mix=${VERICITE_MIX:-"python3 $here/mix"}
gpu=${VERICITE_GPU:-"python3 $here/gpu"}
repo=$here/../..

# What is only half written has another name than what is looked for.
into() { # NAME COMMAND ...: with {} for the name to write to
  made=$out/$1
  shift
  [ -e "$made" ] && return
  part=$(dirname "$made")/part-$(basename "$made")
  rm -rf "$part"
  for word in "$@"; do
    shift
    [ "$word" = "{}" ] && word=$part
    set -- "$@" "$word"
  done
  "$@"
  mv "$part" "$made"
}

mkdir -p "$out"
into mix $mix --data "$data" --out {} --reworded "$here/dev/reworded.jsonl" --paraphrased "$here/paraphrased.jsonl" \
  --written "$here/written.jsonl" --written "$here/written-2.jsonl" --written "$here/written-3.jsonl" \
  --written "$here/written-4.jsonl"
into pool.jsonl $gpu pool "$out/mix" {}
into data.npz $gpu arrays "$out/mix" "$out/pool.jsonl" {}
into base.npz $gpu base "$base" "$out/data.npz" {}
into larger.npz $gpu base "$larger" "$out/data.npz" {}
into teacher $gpu fit "$out/data.npz" "$out/larger.npz" --name teacher --out {} --config "$configs/teacher.json" \
  --label train,pool
into taught.npy $gpu mean "$out/data.npz" "$out/teacher" {} teacher:1
into verifier $gpu fit "$out/data.npz" "$out/base.npz" --name verifier --out {} --config "$configs/verifier.json" \
  --taught "$out/taught.npy"
into checkpoint $gpu checkpoint "$base" "$out/data.npz" "$out/verifier/verifier.safetensors" {}
# With a temperature it is whole; packed alone it is not.
[ -e "$out/packed" ] && exit 0
rm -rf "$out/part-packed"
$vericite train pack "$out/checkpoint/model.safetensors" "$repo/src/vericite/models/weights/reranker-v2/tokenizer.json" \
  "$here/card.json" "$repo/src/vericite/corpus/demo/documents.jsonl" "$out/part-packed"
$release calibrate --model "$out/part-packed" --dev "$out/mix/dev" --documents --write
mv "$out/part-packed" "$out/packed"
