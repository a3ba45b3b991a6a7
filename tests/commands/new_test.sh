#!/usr/bin/env bash
# `./dev new command` writes a skeleton that compiles, in which every file has the name, and refuses bad names and taken ones.
#
#   new_test.sh SOURCE_DIR SCRATCH COMPILER [OPTION...]
set -uo pipefail
export LC_ALL=C.UTF-8
source_dir=$1
scratch=$2
shift 2
failed=0

fail() {
  echo "$*"
  failed=1
}

# A tree with what the script reads, and the folders into which it writes.
rm -rf "$scratch"
mkdir -p "$scratch"/{lib/analysis/reports,tests/analysis,docs/commands,testdata/cli,tools}
cp -r "$source_dir"/{dev,scripts} "$scratch"
cp -r "$source_dir/tools/trace_stats" "$scratch/tools"
cp "$source_dir/lib/analysis/reports/reports.h" "$scratch/lib/analysis/reports"
cd "$scratch" || exit 2

# refused WORDS...: the task ends with 2, a sentence, and no new file.
refused() {
  local said code before
  before=$(find . -type f | sort)
  said=$(./dev new "$@" 2>&1)
  code=$?
  echo "exit $code: $said"
  [ "$before" = "$(find . -type f | sort)" ] || fail "'new $*' wrote something"
}
refusals() {
  refused
  refused commands x
  refused command
  refused command X
  refused command why_late
  refused command -x
  refused command averylongname
  refused command x Time
  refused command gpu
}
diff <(refusals) - << 'SAID' || fail "other refusals (above)"
exit 2: new: what? (new command NAME [GROUP])
exit 2: new: what? (new command NAME [GROUP])
exit 2: new command: which? (new command NAME [GROUP])
exit 2: new command: 'X' is no name of a command: small letters, and single dashes between them
exit 2: new command: 'why_late' is no name of a command: small letters, and single dashes between them
exit 2: new command: '-x' is no name of a command: small letters, and single dashes between them
exit 2: new command: 'averylongname' is longer than 10 letters, for which --help has room
exit 2: new command: 'Time' is no group of commands (limits, time, devices, files)
exit 2: new command: tools/trace_stats/command_gpu.cpp exists
SAID

./dev new command why-late files > said || fail "new command why-late: exit $?"
diff <(sed -n 's/^wrote //p' said) - << 'FILES' || fail "other files (above)"
lib/analysis/reports/why_late_report.cpp
tools/trace_stats/command_why_late.cpp
tests/analysis/why_late_report_test.cpp
docs/commands/why-late.md
lib/analysis/reports/reports.h
testdata/cli/stats-why-late/cmd
testdata/cli/stats-why-late-json/cmd
testdata/cli/stats-why-late-help/cmd
FILES
while read -r file; do
  grep -q -e why-late -e why_late "$file" || fail "$file does not have the name"
  if grep -q '@[A-Za-z]*@' "$file"; then fail "$file: a name is not filled in: $(grep '@[A-Za-z]*@' "$file" | head -n 1)"; fi
  case $file in
    *.cpp) "$@" -I. -Ilib -I"$source_dir/lib" -I"$source_dir/tools" -I"$source_dir/tests" -fsyntax-only "$file" || fail "$file does not compile" ;;
  esac
done < <(sed -n 's/^wrote //p' said)
grep -q '^const RegisteredCommand kWhyLateCommand(CommandGroup::files, 30, add_why_late);$' tools/trace_stats/command_why_late.cpp ||
  fail "it is not registered as the last of its group: $(grep RegisteredCommand tools/trace_stats/command_why_late.cpp)"
cd / && [ $failed = 0 ] && rm -rf "$scratch"
exit $failed
