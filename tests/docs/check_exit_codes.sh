#!/usr/bin/env bash
# Checks that these documents and the manual pages have the same table of exit codes, in the same words.
#
#   PATH=<bin folder>:$PATH check_exit_codes.sh DOCUMENT...
set -euo pipefail
export LC_ALL=C.UTF-8

main() {
  local folder failed=0 page document
  folder=$(mktemp -d)
  trap "rm -r '$folder'" EXIT
  trace-stats --generate "$folder"
  trace-merge --generate "$folder"
  codes_of_page "$folder/man/man1/trace-stats.1" > "$folder/codes"
  [ "$(wc -l < "$folder/codes")" = 4 ] || { echo "trace-stats.1 has not four exit codes"; failed=1; }
  for page in "$folder"/man/man1/*.1; do
    codes_of_page "$page" | compare "$folder/codes" "$(basename "$page")" || failed=1
  done
  # The list of commands has room for the words before the colons.
  sed 's/:.*//' "$folder/codes" | paste -s -d, | sed 's/^/Exit codes: /; s/,/, /g' > "$folder/help"
  trace-stats --help | grep '^Exit codes: ' | compare "$folder/help" 'trace-stats --help' || failed=1
  for document in "$@"; do
    codes_of_document "$document" | compare "$folder/codes" "$document" || failed=1
  done
  return $failed
}

# Prints "CODE MEANING" a line, from lines ".B CODE" that a line with the meaning follows.
codes_of_page() {
  sed -n '/^\.SH EXIT STATUS/,/^\.SH [^E]/{
    /^\.B [0-9]/{
      s/^\.B //
      N
      s/\n/ /
      s/\\-/-/g
      p
    }
  }' "$1"
}

# Prints "CODE MEANING" a line, from rows of a table. A number in a row of another table is no exit code.
codes_of_document() {
  sed -n '/^| code | meaning |$/,/^$/s/^| \([0-9]\) | \(.*\) |$/\1 \2/p' "$1" | tr -d '`'
}

compare() {
  diff -u --label 'trace-stats.1' --label "$2" "$1" -
}

main "$@"
