#!/bin/sh
# What the house looks like: how large its files and rooms are, what the door of a merge brings along, how long the
# dependency table is, and what the comments look like. `./dev house` runs this.
#
#   scripts/house.sh                       prints the figures
#   scripts/house.sh tree FOLDER           prints those of the tree in this folder
#   scripts/house.sh comments [FOLDER...]  prints only those of comments, in lib, tools and tests or in these folders
#
# Fails if a figure is above its limit. Figures without a limit are for people: whether the house grows.
set -eu

most_files=6           # sources and headers a thousand lines of lib/ and tools/
longest_file=600       # lines of one of them
largest_room=5000      # lines of a folder of lib/, without the folders below it
most_headers=12        # own headers that merge/merger.h brings along
longest_table=100      # lines of lib/CMakeLists.txt
most_headless=6        # percent of the comments in lib/, tools/ and tests/
most_wide=0            # lines with a comment that are wider than 100 columns; clang-format leaves comments as they are

tree=$(dirname "$0")/..
if [ "${1:-}" = tree ]; then
  tree=$2
  shift 2
fi
checks=$(cd "$(dirname "$0")/../tests" && pwd)
cd "$tree"
failed=0

print_figure() {
  printf '%-44s %6s' "$1" "$2"
}

# print_limit WHAT FIGURE LIMIT [NAME]
print_limit() {
  verdict=
  if awk "BEGIN { exit !($2 > $3) }"; then
    verdict='  <- too many'
    failed=1
  fi
  print_figure "$1" "$2"
  printf '  (at most %s)%s%s\n' "$3" "${4:+  $4}" "$verdict"
}

# rate NUMBER ALL UNIT: how many a UNIT, rounded up to a tenth, so that 6.01 are above 6.
rate() {
  awk -v number="$1" -v all="$2" -v unit="$3" 'BEGIN {
    tenths = all > 0 ? number * unit * 10 / all : 0
    if (tenths > int(tenths)) tenths = int(tenths) + 1
    printf "%.1f", tenths / 10
  }'
}

sources() {
  find "$@" \( -name '*.h' -o -name '*.cpp' \) -print
}

# Prints "LINES FILE" for each source.
lines_by_file() {
  sources "$@" | xargs awk 'FNR == 1 { files[++count] = FILENAME } { lines[FILENAME]++ }
    END { for (i = 1; i <= count; i++) print lines[files[i]], files[i] }'
}

lines_of() {
  lines_by_file "$@" | awk '{ lines += $1 } END { print lines + 0 }'
}

lines_by_room() {
  lines_by_file lib | awk '{ sub(/\/[^\/]*$/, "", $2); lines[$2] += $1 } END { for (room in lines) print lines[room], room }'
}

# Definitions of structs, classes and enums; a declaration ahead has no brace.
count_types() {
  sources "$@" | xargs cat | grep -cE '^ *(template *<.*> *)?(struct|class|enum( class)?) [A-Za-z_][A-Za-z0-9_:<>, ]*( final)?( : [^;]*)? ?\{' || true
}

headers_of_merger() {
  cmake -DROOT=. -DHEADER=merge/merger.h -DMOST=999 -P "$checks/check_door.cmake" 2>&1 |
    sed -n 's/^merge\/merger.h brings \([0-9]*\) .*/\1/p'
}

# print_largest WHAT LIMIT LIST, a list of lines "FIGURE NAME"
print_largest() {
  largest=$(echo "$3" | sort -rn | head -n 1)
  print_limit "$1" "${largest%% *}" "$2" "${largest#* }"
}

# Prints "HEADLESS COMMENTS" of these folders. Lines that follow each other are one comment, also those that go on with
# one behind code. A comment is headless when it begins with one of these words, in whose sentences the subject is often
# missing.
count_headless() {
  sources "$@" | sort | xargs awk '
    function begins(text) {
      sub(/^\/\/+[ \t]*/, "", text)
      if (text !~ /[A-Za-z]/ || text ~ /^namespace/ || text ~ /NOLINT/) return
      comments++
      text = tolower(text) " "
      if (text ~ /^(of|by|with|as|among|what|whether|which|how|that of|those|all|each|nor|not)[^a-z]/) headless++
    }
    FNR == 1 { goes_on = 0 }
    /^[ \t]*\/\// {
      if (!goes_on) begins(substr($0, index($0, "//")))
      goes_on = 1
      next
    }
    /[;{},)] +\/\/ / {
      match($0, /[;{},)] +\/\/ /)
      begins(substr($0, RSTART + RLENGTH - 3))
      goes_on = 1
      next
    }
    { goes_on = 0 }
    END { print headless + 0, comments + 0 }'
}

# Prints "FILE:LINE" of lines with a comment that are too wide. What stands in quotes may hold slashes, too.
wide_comments() {
  sources "$@" | LC_ALL=C.UTF-8 xargs grep -HnE '^.{101,}' | grep -E '^[^:]*:[0-9]*:( *|.*[;{},)] +)// ' | cut -d: -f1,2 || true
}

print_comments() {
  [ $# -gt 0 ] || set -- $(ls -d lib tools tests 2> /dev/null)
  wide_comments "$@"
  print_limit 'lines with a comment wider than 100 columns' "$(wide_comments "$@" | wc -l)" "$most_wide"
  set -- $(count_headless "$@")
  printf '%s of %s comments begin without a subject\n' "$1" "$2"
  print_limit 'percent of comments without a subject' "$(rate "$1" "$2" 100)" "$most_headless"
}

# Results of a run that somebody added with `git add -A`: 29 files of one were here for a day.
strangers_in_root() {
  git ls-files | cut -d/ -f1 | sort -u | grep -vxE \
    '\.(ci|clang-format|clang-tidy|gitattributes|gitignore)|[A-Z]+\.md|LICENSE|CMakeLists\.txt|CMakePresets\.json|bench|cmake|dev|docs|lib|scripts|testdata|tests|tools' || true
}

if [ "${1:-}" = comments ]; then
  shift
  print_comments "$@"
  exit $failed
fi

lines=$(lines_of lib tools)
for folder in lib tools; do
  print_figure "lines of $folder" "$(lines_of $folder)"
  echo
done
print_figure 'types a thousand lines of lib and tools' "$(rate "$(count_types lib tools)" "$lines" 1000)"
echo
print_limit 'files a thousand lines of lib and tools' "$(rate "$(sources lib tools | wc -l)" "$lines" 1000)" "$most_files"
print_largest 'lines of the longest file' "$longest_file" "$(lines_by_file lib tools)"
print_largest 'lines of the largest room of lib' "$largest_room" "$(lines_by_room)"
print_limit 'headers that merge/merger.h brings' "$(headers_of_merger)" "$most_headers"
print_limit 'lines of lib/CMakeLists.txt' "$(wc -l < lib/CMakeLists.txt)" "$longest_table"
if [ -e .git ]; then
  print_limit 'files of the root that do not belong there' "$(strangers_in_root | wc -l)" 0 "$(strangers_in_root | head -n 1)"
fi
print_comments
# CI leaves them.
[ ! -f build/ci-times.txt ] || awk '{ printf "%-44s %6s s\n", "CI: " $1, $2 }' build/ci-times.txt
exit $failed
