#!/usr/bin/env bash
# Reports of all sets of several ranks are the same by 1, 2, 3, 5 and 8 processes, some of which may have no file.
. "$(dirname "$0")/common.sh"

sets=("$source_dir"/testdata/{cycles,demo/composer,straggler})
[ ! -d "$TRACELOOM_SHARED_DIR/traces/multirank" ] || sets+=("$TRACELOOM_SHARED_DIR"/traces/multirank/*/)
commands=('summarize --by rank,name --format json' 'bottleneck --format json' 'steps' 'comm' 'info --format json')
number=0
for i in "${!sets[@]}"; do
  set=${sets[i]}
  for processes in 1 2 3 5 8; do
    # Each set meets each command, and each number of processes. A day takes one of each, in turns.
    read -ra command <<< "${commands[number++ % ${#commands[@]}]}"
    is_of_today 5 $((number + i + 1)) || continue
    "$tools/trace-stats" "${command[@]}" "$set" --keep-going > "$scratch/one" 2> "$scratch/one.words"
    code=$?
    by "$processes" trace-stats "${command[@]}" "$set" --keep-going > "$scratch/many" 2> "$scratch/many.words"
    [ $? -eq $code ] || fail "$processes processes: ${command[*]} $set: another exit code than $code"
    cmp "$scratch/one" "$scratch/many" || fail "$processes processes: ${command[*]} $set: other bytes"
    cmp "$scratch/one.words" "$scratch/many.words" || fail "$processes processes: ${command[*]} $set: other words"
  done
  number=$((number + 1))
done
echo "${#sets[@]} sets"
exit $failed
