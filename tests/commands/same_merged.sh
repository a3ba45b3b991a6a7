#!/usr/bin/env bash
# The answer for a merge is the answer for its inputs, and so is that for these in another order, read by one thread. Only what
# counts or lists the files differs.
source "$(dirname "$0")/common.sh"
need_tables
enter_scratch

# Prints what the command says of these inputs, without its files and their problems, and its exit code.
answer() {
  trace-stats "$@" 2> err | sed -e '/"files"/,/^  ],/d' -e '/"problems"/,/^  \]/d' -e "1{/ files\\?, /d}"
  echo "exit ${PIPESTATUS[0]}"
}

# A day takes a third of them, in turns that differ by command: each run of a set in one of the forms, which sets differ by.
first=${#command}
for set in composer kineto multi4 devices2 memory cut; do
  place=$((first++))
  while read -r run; do
    for format in table csv json; do
      is_of_today 3 $((place++)) || continue
      answer $run inputs/$set/plain --format $format > inputs.txt
      answer $run inputs/$set/merged --format $format > merged.txt
      answer $run $(ls -r inputs/$set/plain/*.json*) --threads 1 --format $format > turned.txt
      cmp -s inputs.txt merged.txt || { fail "$run --format $format of $set differs for its merge:"; diff inputs.txt merged.txt | head -n 9; }
      cmp -s inputs.txt turned.txt || { fail "$run --format $format of $set differs in another order:"; diff inputs.txt turned.txt | head -n 9; }
      tail -n 1 inputs.txt | grep -q -x 'exit 0' || fail "$run --format $format of $set ends with $(tail -n 1 inputs.txt): $(head -n 1 err)"
    done
  done < <(runs)
done
finish
