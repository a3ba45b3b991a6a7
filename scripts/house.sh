#!/bin/sh
# What the house looks like: how full its folders are, what the door of a merge brings along, how long the dependency
# table is, and how many comments begin without a subject. `./dev house` runs this.
#
#   scripts/house.sh             prints the figures; fails where one is above its limit
#   scripts/house.sh comments    prints only those of comments, and warns instead of failing
set -eu
cd "$(dirname "$0")/.."

most_files=36      # sources and headers in a folder of lib/
most_headers=12    # own headers that merge/merger.h brings along
most_lines=100     # in lib/CMakeLists.txt
most_headless=6    # percent of the comments in lib/ and tools/

failed=0

# print_limit WHAT FIGURE LIMIT
print_limit() {
  verdict=
  if [ "$2" -gt "$3" ]; then
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

# Prints "HEADLESS COMMENTS". Lines that follow each other are one comment, also those that go on with one behind code.
# A comment is headless when it begins with one of these words, in whose sentences the subject is often missing.
count_headless() {
  find lib tools \( -name '*.h' -o -name '*.cpp' \) -print | sort | xargs awk '
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

print_comments() {
  set -- $(count_headless)
  printf '%s of %s comments begin without a subject\n' "$1" "$2"
  print_limit 'percent of comments without a subject' $((($1 * 100 + $2 / 2) / $2)) "$most_headless"
}

if [ "${1:-}" = comments ]; then
  print_comments
  exit 0
fi

echo "Files a folder of lib/:"
files_by_folder
print_limit 'files in the fullest folder of lib/' "$(files_by_folder | awk 'NR == 1 { print $1 }')" "$most_files"
print_limit 'headers that merge/merger.h brings' "$(headers_of_merger)" "$most_headers"
print_limit 'lines of lib/CMakeLists.txt' "$(wc -l < lib/CMakeLists.txt)" "$most_lines"
print_comments
exit $failed
