#!/usr/bin/env bash
# Prints docs/commands/README.md with its table of commands made anew: those of trace-stats in the order of --help, each with the
# words in bold letters with which its page begins.
#
#   PATH=<bin folder>:$PATH scripts/command-table.sh
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/../docs/commands"

print_rows() {
  local name question
  for name in trace-merge trace-record $(trace-stats --list-commands | cut -d ' ' -f 1); do
    question=$(sed -n '/^\*\*/,/[^*]\*\*/p' "$name.md" | tr '\n' ' ' | sed -e 's/^\*\*\([^*]*\)\*\*.*/\1/' -e 's/\.$//')
    # Some pages ask more after the words in bold letters.
    if [[ $question =~ ^(Does|How|Is|What|Which|Who|Why)\  && $question != *\? ]]; then question+='?'; fi
    echo "| [$name]($name.md) | $question |"
  done
}

awk -v rows="$(print_rows)" '
  /^\| command \| question \|$/ { print; print "|---|---|"; print rows; inside = 1; next }
  inside && /^\|/ { next }
  { inside = 0; print }' README.md
