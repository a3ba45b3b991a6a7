#!/usr/bin/env bash
# Writes the skeleton of a new part, which builds and whose tests name what a person has to decide.
#
#   scripts/new.sh command NAME [GROUP]    a command of trace-stats; GROUP is one of CommandGroup in
#                                          tools/trace_stats/commands.h (time)
#
# `./dev new` runs this. The templates are in scripts/new/.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."
templates=scripts/new

main() {
  case ${1:-} in
    command) new_command "${@:2}" ;;
    *) refuse "new: what? (new command NAME [GROUP])" ;;
  esac
}

refuse() {
  echo "$*" >&2
  exit 2
}

new_command() {
  [ $# -ge 1 ] && [ $# -le 2 ] || refuse "new command: which? (new command NAME [GROUP])"
  local command=$1 group=${2:-time} name place groups file
  [[ $command =~ ^[a-z]+(-[a-z]+)*$ ]] ||
    refuse "new command: '$command' is no name of a command: small letters, and single dashes between them"
  [ ${#command} -le 10 ] || refuse "new command: '$command' is longer than 10 letters, for which --help has room"
  groups=$(sed -n 's/^enum class CommandGroup.*{ *\(.*[a-z]\) *};$/\1/p' tools/trace_stats/commands.h)
  [[ ", $groups, " == *", $group, "* ]] || refuse "new command: '$group' is no group of commands ($groups)"
  name=${command//-/_}
  # It becomes the last of its group.
  place=$(sed -n "s/.*(CommandGroup::$group, \([0-9]*\), .*/\1/p" tools/trace_stats/command_*.cpp | sort -n | tail -n 1)
  place=$((${place:-0} + 10))

  local from=(report.cpp command.cpp test.cpp page.md)
  local to=("lib/analysis/reports/${name}_report.cpp"
    "tools/trace_stats/command_$name.cpp" "tests/analysis/${name}_report_test.cpp" "docs/commands/$command.md")
  for file in "${to[@]}" "testdata/cli/stats-$command"{,-json,-help}; do
    [ ! -e "$file" ] || refuse "new command: $file exists"
  done
  local i
  for i in "${!from[@]}"; do
    fill "$templates/command/${from[i]}" > "${to[i]}"
    echo "wrote ${to[i]}"
  done
  # Its declaration becomes the last of all.
  local declarations=lib/analysis/reports/reports.h others
  others=$(head -n -1 "$declarations")
  printf '%s\n\n%s\n\n}  // namespace traceloom\n' "$others" "$(fill "$templates/command/report.h")" > "$declarations"
  echo "wrote $declarations"
  local case arguments
  while IFS='|' read -r case arguments; do
    mkdir -p "testdata/cli/stats-$command$case"
    echo "trace-stats $command $arguments" > "testdata/cli/stats-$command$case/cmd"
    echo "wrote testdata/cli/stats-$command$case/cmd"
  done << 'CASES'
|"$TESTDATA"/small/multi4_rank*.json
-json|"$TESTDATA"/small/multi4_rank*.json --format json
-help|--help
CASES
  cat << NEXT

Next: fill in what is marked WRITE:, add a row to README.md and a line to CHANGELOG.md. Then

  UPDATE=1 ./dev test -R 'cli.(stats-$command|stats-help|man-pages|completion)'
  PATH=\$PWD/build/asan/bin:\$PATH scripts/update-docs.sh

write what the programs print. Review it, and run ./dev fmt, ./dev lint and ./dev test.
NEXT
}

# Prints a template with the names filled in.
fill() {
  local words=${name//_/ } title='' word
  for word in $words; do title+=${word^}; done
  sed -e "s/@COMMAND@/$command/g" -e "s/@NAME@/$name/g" -e "s/@Name@/$title/g" -e "s/@GROUP@/$group/g" \
    -e "s/@PLACE@/$place/g" "$1"
}

main "$@"
