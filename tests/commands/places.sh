#!/usr/bin/env bash
# All that belongs to a command is there: its page, its places in README.md, docs/commands/README.md and
# CHANGELOG.md, a unit test of its report, and cases of the command line.
source "$(dirname "$0")/common.sh"
enter_scratch
name=${command//-/_}
page=docs/commands/$command.md

# in_file FILE PATTERN WHAT
in_file() {
  grep -q -e "$2" "$source_dir/$1" || fail "$1 has no $3"
}

if [ ! -f "$source_dir/$page" ]; then
  fail "$page is missing"
  finish
fi
in_file "$page" "^# trace-stats $command\$" "heading '# trace-stats $command'"
in_file "$page" '^\*\*.' 'question in bold letters below its heading'
for part in Example Options; do in_file "$page" "^## $part\$" "part '## $part'"; done
for file in "$page" lib/analysis/reports/{reports.h,"${name}_report.cpp"} "tools/trace_stats/command_$name.cpp" "tests/analysis/${name}_report_test.cpp"; do
  left=$(grep -n -s 'WRITE:' "$source_dir/$file" | head -n 1)
  [ -z "$left" ] || fail "$file has parts that ./dev new left to write: line $left"
done
in_file docs/commands/README.md "^| \[$command\]($command.md) |" "row for $command: run scripts/update-docs.sh"
[ "$command" = baseline ] || in_file README.md "(docs/commands/$command.md)" "link to $page in its table of questions"
in_file CHANGELOG.md "\`\(trace-stats \)\?$command\b" "line that names trace-stats $command"

# cases PATTERN WHAT: some case of the command line has such a line.
cases() {
  grep -l -e "trace-stats $command\b$1" "$source_dir"/testdata/cli/*/cmd > found || fail "no case in testdata/cli runs it $2"
}
cases '' 'at all'

if has TRACE && has --format; then
  cases '.*--help' 'with --help'
  cases '.*--format json' 'with --format json'
  for part in JSON 'What it cannot tell'; do in_file "$page" "^## $part\$" "part '## $part'"; done
  if [ -f "$source_dir/lib/analysis/reports/${name}_report.cpp" ]; then
    grep -l -r "\b${name}_report(" "$source_dir/tests" --include='*_test.cpp' > found || fail "no unit test in tests/ calls ${name}_report()"
  fi
fi
finish
