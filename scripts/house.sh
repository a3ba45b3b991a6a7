#!/bin/sh
# What the house looks like: how full its folders are, what the door of a merge brings along, how long the dependency
# table is, and how many comments begin without a subject. `./dev house` runs this.
#
#   scripts/house.sh                       prints the figures
#   scripts/house.sh comments [FOLDER...]  prints only those of comments, in lib, tools and tests or in these folders
#
# Fails if a figure is above its limit.
set -eu
cd "$(dirname "$0")/.."

most_files=36      # sources and headers in a folder of lib/
most_headers=12    # own headers that merge/merger.h brings along
most_lines=100     # in lib/CMakeLists.txt
most_headless=6    # percent of the comments in lib/, tools/ and tests/

failed=0

# print_limit WHAT FIGURE LIMIT
print_limit() {
  verdict=
  if awk "BEGIN { exit !($2 > $3) }"; then
    verdict='  <- too many'
    failed=1
  fi
  printf '%-42s %5s  (at most %s)%s\n' "$1" "$2" "$3" "$verdict"
}

files_by_folder() {
  find lib -name '*.h' -o -name '*.cpp' | sed 's,/[^/]*$,,' | sort | uniq -c | sort -rn
}

headers_of_merger() {
  cmake -DROOT=. -DHEADER=merge/merger.h -DMOST=999 -P tests/check_door.cmake 2>&1 |
    sed -n 's/^merge\/merger.h brings \([0-9]*\) .*/\1/p'
}

# Prints "HEADLESS COMMENTS" of these folders. Lines that follow each other are one comment, also those that go on with
# one behind code. A comment is headless when it begins with one of these words, in whose sentences the subject is often
# missing.
count_headless() {
  find "$@" \( -name '*.h' -o -name '*.cpp' \) -print | sort | xargs awk '
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

# Rounds the percentage up to a tenth, so that 6.01 % are above 6.
print_comments() {
  [ $# -gt 0 ] || set -- lib tools tests
  set -- $(count_headless "$@")
  printf '%s of %s comments begin without a subject\n' "$1" "$2"
  tenths=$((($1 * 1000 + $2 - 1) / $2))
  print_limit 'percent of comments without a subject' $((tenths / 10)).$((tenths % 10)) "$most_headless"
}

if [ "${1:-}" = comments ]; then
  shift
  print_comments "$@"
  exit $failed
fi

echo "Files a folder of lib/:"
files_by_folder
print_limit 'files in the fullest folder of lib/' "$(files_by_folder | awk 'NR == 1 { print $1 }')" "$most_files"
print_limit 'headers that merge/merger.h brings' "$(headers_of_merger)" "$most_headers"
print_limit 'lines of lib/CMakeLists.txt' "$(wc -l < lib/CMakeLists.txt)" "$most_lines"
print_comments
exit $failed
