#!/usr/bin/env bash
# Runs every command that a document shows after a "$ ", and compares what it prints with what the document shows.
#
#   PATH=<bin folder>:$PATH run_commands.sh DOCUMENT TESTDATA SCRATCH
#   UPDATE=1 PATH=... run_commands.sh ...     writes what the commands print into the document; review it
#
# A block without a language holds such commands or those of ./dev, which tests cannot run (./dev bare runs them). A block
# of another kind (sh, text, yaml, cpp, json) is not run. A line "..." stands for any lines; such a block is never updated.
# Where a program is recorded, numbers with their units and verdicts count as N: they differ with the machine and what else
# it does (the cases cli.record-demo-* check the verdicts).
set -euo pipefail

main() {
  local document testdata=$2 scratch=$3
  document=$(realpath "$1")
  rm -rf "$scratch"
  mkdir -p "$scratch"
  ln -s "$(realpath "$testdata")" "$scratch/testdata"
  cd "$scratch"
  split_blocks "$document"
  local block ran=0 failed=0
  for block in block.*; do
    if grep -q '^\$ ' "$block"; then
      run_block "$block" || failed=1
      ran=$((ran + 1))
    elif ! grep -q '^\./dev' "$block"; then
      printf 'This block shows no "$ " before its commands:\n%s\n' "$(cat "$block")"
      failed=1
    fi
  done
  [ -z "${UPDATE:-}" ] || update "$document"
  echo "$ran blocks ran"
  [ "$ran" -gt 0 ] && [ $failed = 0 ]
}

# Each block between ``` lines that names no language becomes a file, block.001 and so on.
split_blocks() {
  awk '/^ *```/ { if (inside) { inside = 0 } else { inside = 1; plain = /^ *```$/; if (plain) number++ }; next }
       inside && plain { print > sprintf("block.%03d", number) }' "$1"
}

run_block() {
  local shown got line
  shown=$(cat "$1")
  got=$(while IFS= read -r line; do
    [[ $line == '$ '* ]] || continue
    printf '%s\n' "$line"
    bash -o pipefail -c "${line#\$ }" 2>&1 || printf 'exit code %d\n' $?
  done < "$1")
  if [ -n "${UPDATE:-}" ] && ! grep -q -e '^\.\.\.$' -e 'trace-record' "$1"; then
    printf '%s\n' "$got" > "new.${1#block.}"
    return
  fi
  if [[ $shown == *trace-record* ]]; then
    shown=$(mask <<< "$shown")
    got=$(mask <<< "$got")
  fi
  # shellcheck disable=SC2053  # the right side is a pattern
  [[ $got == $(as_pattern <<< "$shown") ]] && return
  printf 'The document shows:\n%s\n\nIt prints:\n%s\n\n' "$shown" "$got"
  return 1
}

mask() {
  sed -E -e 's/^Verdict: .*/Verdict: N/' -e '/^\$ /!s/-?[0-9][0-9.,]*( (ns|us|ms|s|B|KiB|MiB|GiB)\b)?/N/g'
}

as_pattern() {
  sed -e 's/[][\\*?]/\\&/g' -e 's/^\.\.\.$/*/'
}

# Puts the blocks new.NNN in the place of those that the document has.
update() {
  awk '/^ *```/ { if (inside) { inside = 0; skip = 0 } else { inside = 1; if (/^ *```$/) { number++; fresh = 1 } } }
       !skip { print }
       fresh { fresh = 0; file = sprintf("new.%03d", number)
               while ((getline line < file) > 0) { print line; skip = 1 } }' "$1" > updated
  cat updated > "$1"
}

main "$@"
