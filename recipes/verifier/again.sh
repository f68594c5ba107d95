#!/bin/sh
# Continues the training of the verifier that ships: again.sh DATA OUT [MINUTES]. DATA is the folder of datasets, OUT a new folder.
# Only further rows teach labels; on earlier rows the logits of the verifier that ships are kept (again.json).
# The run takes MINUTES by the clock (default: 60), on a GPU if torch finds one; its rate falls to 0 by then.
# After an interruption, run it again: it continues. At the end it prints dev scores of the run mixed with what ships, in five shares.
# Minutes of one core: mix 4, pool 2, other rows 2, arrays 3, the run MINUTES, the table 12 (pool, arrays and table are estimates).
# The checkpoint is such a mix; set SHARE to choose the run's share (default: 0.75).
# Needs the extra [train]. Set CONFIG to use another file than again.json, BEGIN to begin at the weights of another packed
# verifier of the same shape; what the one that ships says of earlier rows is kept all the same.
set -eu
[ $# -eq 2 ] || [ $# -eq 3 ] || { echo "expected again.sh DATA OUT [MINUTES]; found $# arguments" >&2; exit 2; }
data=$1 out=$2 minutes=${3:-60}
here=$(dirname "$0")
python=${PYTHON:-python3}
config=${CONFIG:-$here/again.json}
model=$here/../../src/vericite/models/weights/verifier-v6
gpu="$python $here/gpu" more="$python $here/more"

. "$here/steps.sh"

mkdir -p "$out"
into mix $python "$here/mix" --data "$data" --out {} --reworded "$here/dev/reworded.jsonl" \
  --paraphrased "$here/paraphrased.jsonl" --written "$here/written.jsonl" --written "$here/written-2.jsonl" \
  --written "$here/written-3.jsonl" --written "$here/written-4.jsonl"
into pool.jsonl $gpu pool "$out/mix" {}
into transfer $more transfer --data "$data" --mix "$out/mix" --out {}
into second.jsonl $more second --rows "$out/transfer/transfer.jsonl" --out {}
into shortcuts.jsonl $more shortcuts --mix "$out/mix" --out {}
into kinds.jsonl $more kinds --lines 600 --out {}
into invented.jsonl $more invented "$here/written-5.jsonl" --out {}
into judged $more judged --mix "$out/mix" --held "$out/transfer/held" --out {}
into start $python -m vericite train unpack "$model" {}
[ -e "$out/data.npz" ] || set -- $(printf -- '--judged %s ' "$out"/judged/*.jsonl)
into data.npz $gpu arrays "$out/mix" "$out/pool.jsonl" {} --tokenizer "$out/start/tokenizer.json" \
  --more "$out/transfer/transfer.jsonl" --more "$out/second.jsonl" --more "$out/shortcuts.jsonl" \
  --more "$out/kinds.jsonl" --more "$out/invented.jsonl" "$@"
into base.npz $gpu base "$out/start" "$out/data.npz" {} --whole
if [ "${BEGIN:-}" ]; then
  into begin $python -m vericite train unpack "$BEGIN" {}
  into begin.npz $gpu base "$out/begin" "$out/data.npz" {} --whole
fi
into again.json $python -c 'import json, sys
told = json.load(open(sys.argv[1])) | {"minutes": float(sys.argv[2])}
json.dump(told, open(sys.argv[3], "w"))' "$config" "$minutes" {}
into run $gpu fit "$out/data.npz" "$out/base.npz" --name again --out {} --config "$out/again.json" \
  ${BEGIN:+--start "$out/begin.npz"}
$gpu shares "$out/data.npz" "$out/base.npz" "$out/run/again.safetensors" 0 0.25 0.5 0.75 1
into mixed.safetensors $gpu mixed "$out/base.npz" "$out/run/again.safetensors" {} --share "${SHARE:-0.75}"
into checkpoint $gpu checkpoint "$out/start" "$out/data.npz" "$out/mixed.safetensors" {}
