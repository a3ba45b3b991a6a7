#!/usr/bin/env bash
# Merges by the processes of mpirun have the bytes, the messages and the exit code of merges by one.
. "$(dirname "$0")/common.sh"

# MPI keeps some memory until the process has ended.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
testdata=$source_dir/testdata
tool=$tools/trace-merge
cd "$scratch" || exit 1

same() { # OUTPUT ARGUMENTS...
  local output=$1 code
  shift
  rm -f "$output" alone
  "$tool" "$@" -o "$output" > alone.out 2> alone.err
  code=$?
  if [[ -e $output ]]; then mv "$output" alone; fi
  for processes in 1 2 3 5 8; do
    is_of_today || continue
    rm -f "$output"
    by "$processes" trace-merge "$@" -o "$output" > team.out 2> team.err
    [[ $? == "$code" ]] || fail "$processes processes, $*: exit code"
    cmp alone.out team.out && cmp alone.err team.err || fail "$processes processes, $*: messages"
    if [[ -e alone ]]; then cmp alone "$output" || fail "$processes processes, $*: bytes"; fi
    [[ -e alone || ! -e $output ]] || fail "$processes processes, $*: an output after an error"
    [[ -z $(compgen -G ".$output*") ]] || fail "$processes processes, $*: a temporary file"
  done
}

refused() { # MESSAGE ARGUMENTS...
  local message=$1
  shift
  by 2 trace-merge "$@" > team.out 2> team.err
  [[ $? == 2 && $(< team.err) == "trace-merge: $message" ]] || fail "$*: $(< team.err)"
}

same a.json.gz --keep-going "$testdata/broken"
same a.json "$testdata/broken"
same a.json --pids split "$testdata/cycles"
same a.json.gz --min-duration 20us "$testdata/straggler"
same a.json.gz --category 'no such category' "$testdata/straggler"
same a.json.gz --dry-run "$testdata/merge/ok"

refused '--sort does not run with --mpi yet' --sort "$testdata/cycles" -o b.json
refused '--serve does not run with --mpi yet' --serve "$testdata/cycles"
refused '--recover does not run with --mpi yet' --recover "$testdata/cycles" -o b.json
refused '--format perfetto-tar does not run with --mpi yet' "$testdata/cycles" -o b.tar
refused '-o -: with --mpi several processes write the output, so it must be a regular file' \
  "$testdata/cycles" -o -
refused 'no/b.json: the directory no does not exist; create it first' "$testdata/cycles" -o no/b.json

# The disk of process 1 is full, or so it seems.
echo old > b.json
arguments=(--mpi "$testdata/straggler" -o b.json)
timeout 120 mpirun --oversubscribe --bind-to none -n 1 "$tool" "${arguments[@]}" \
  : -n 1 bash -c 'ulimit -f 1; exec "$@"' _ "$tool" "${arguments[@]}" > team.out 2> team.all
[[ $? == 2 ]] || fail 'a full disk: exit code'
grep -qx 'trace-merge: temporary file for b.json: File too large' team.all || fail 'a full disk: message'
[[ $(< b.json) == old && -z $(compgen -G '.b.json*') ]] || fail 'a full disk: what is left'
exit $failed
