#!/usr/bin/env bash
# Checks that the pages in docs/commands hold what the tools offer: a page for every command, and in it, or in the page of
# what they share, every option of its --help; and no option that it does not have.
#
#   PATH=<bin folder>:$PATH check_options.sh DOCS/COMMANDS
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$1"

main() {
  local failed=0 checked=0 command
  check_page trace-merge.md trace-merge || failed=1
  check_page trace-record.md trace-record || failed=1
  check_page trace-record.md trace-record demo || failed=1
  for command in $(trace-stats --list-commands | cut -d ' ' -f 1); do
    check_page "$command.md" trace-stats "$command" || failed=1
    checked=$((checked + 1))
  done
  echo "$checked commands of trace-stats"
  [ "$checked" -gt 10 ] && [ $failed = 0 ]
}

# Compares the options of a help text with those that the page has in the first column of a table.
check_page() {
  local page=$1 offered own shared='' failed=0 option
  shift
  if [ ! -f "$page" ]; then
    echo "$page is missing: it would describe $*"
    return 1
  fi
  offered=$("$@" --help | options_of_help)
  own=$(options_of_page "$page")
  [[ $page == trace-* ]] || shared=$(options_of_page README.md)
  for option in $offered; do
    among "$option" "$own" "$shared" || { echo "$page: $* has $option, which is not described"; failed=1; }
  done
  # One page describes trace-record and its demo.
  [[ $1 != trace-record ]] || offered=$({ trace-record --help; trace-record demo --help; } | options_of_help)
  for option in $own; do
    among "$option" "$offered" || { echo "$page: $option is described, and $* does not have it"; failed=1; }
  done
  return $failed
}

options_of_help() {
  sed -n 's/^  *\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p' | grep -v -x -e --help -e --version | sort -u
}

options_of_page() {
  sed -n 's/^| \([^|]*\) |.*/\1/p' "$1" | grep -o -e '`[^`]*`' | tr -d '`' | grep -x -e '--[a-z-]*' | sort -u || true
}

# among WORD LIST...
among() {
  local word=$1
  shift
  [[ $'\n'"$(printf '%s\n' "$@")"$'\n' == *$'\n'"$word"$'\n'* ]]
}

main "$@"
