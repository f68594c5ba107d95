# For make.sh and again.sh: a finished step is not repeated. Until then its file or folder has another name.
into() { # NAME COMMAND ...: with {} for the name to write to
  made=$out/$1
  shift
  [ -e "$made" ] && return
  part=$(dirname "$made")/part-$(basename "$made")
  # A training run that was interrupted continues from its state.
  ls "$part"/*.state >/dev/null 2>&1 || rm -rf "$part"
  for word in "$@"; do
    shift
    [ "$word" = "{}" ] && word=$part
    set -- "$@" "$word"
  done
  "$@"
  mv "$part" "$made"
}
