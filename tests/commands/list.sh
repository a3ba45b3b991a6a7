#!/usr/bin/env bash
# trace-stats has the commands of its files command_<name>.cpp, and the lists of exceptions and variants name no others.
#
#   PATH=<bin folder>:$PATH list.sh SOURCE_DIR NAME...
set -uo pipefail
export LC_ALL=C.UTF-8
here=$(dirname "$0")
source_dir=$1
shift
failed=0
known=$(trace-stats --list-commands | cut -d' ' -f1)

# among WORD LIST
among() { grep -q -x -F -e "$1" <<< "$2"; }
complain() { echo "$*"; failed=1; }

for name in "$@"; do
  among "$name" "$known" || complain "command_${name//-/_}.cpp registers no command of that name"
done
for name in $known; do
  among "$name" "$(printf '%s\n' "$@")" || complain "the command $name is in no file command_${name//-/_}.cpp"
done
while read -r name check _; do
  among "$name" "$known" || complain "tests/commands names $name ($check), and there is no such command"
done < <(grep -h -v '^#' "$here/exceptions" "$here/variants")
while read -r name check _; do
  [ -x "$here/$check.sh" ] || complain "tests/commands/exceptions: $name is an exception to $check, and there is no such test"
done < <(grep -v '^#' "$here/exceptions")
# README.md counts the questions in words, below `bottleneck`, which answers the first.
questions=$(sed -n '/^| question | command |$/,/^$/p' "$source_dir/README.md" | grep -c '](docs/commands/')
grep -q "answers $((questions - 1)) narrower questions" "$source_dir/README.md" ||
  complain "README.md has $questions questions in its table, so trace-stats answers $((questions - 1)) narrower ones"
exit $failed
