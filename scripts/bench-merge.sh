#!/usr/bin/env bash
# Measures a plain merge of given traces: `./dev bench merge FOLDER [TOOL...]`.
#
#   scripts/bench-merge.sh FOLDER [TOOL...]      (build/release/bin/trace-merge; others are measured in turns with it)
#
# A row a tool, of ROUNDS=9 rounds, which begin with `cat` of the same files: the least and the middle seconds of user
# time a GB by one thread; the middle seconds by two threads; and their ratio to those of cat, the middle of the rounds.
# The output goes to WORK=build/bench/merge, and is removed each time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -gt 0 ] || { echo 'bench-merge.sh: name a folder of .json traces' >&2; exit 2; }
folder=$1 tools=("${@:2}") rounds=${ROUNDS:-9} work=${WORK:-build/bench/merge}
[ ${#tools[@]} -gt 0 ] || tools=(build/release/bin/trace-merge)
mkdir -p "$work"
bytes=$(find "$folder" -maxdepth 1 -name '*.json' -print0 | xargs -0 cat | wc -c)
[ "$bytes" -gt 0 ] || { echo "bench-merge.sh: $folder has no .json traces" >&2; exit 2; }

# timed COMMAND...: prints "user wall". A merge ends without a word of its own here.
timed() {
  /usr/bin/time -f '%U %e' -o "$work/time" "$@" 2> "$work/words" || { cat "$work/words" >&2; exit 1; }
  cat "$work/time"
  rm -f "$work/out.json"
}
# shellcheck disable=SC2016
cat_all() { timed bash -c 'cat "$1"/*.json > "$2/out.json"' cat "$folder" "$work"; }

rm -f "$work"/samples.*
for ((round = 0; round < rounds; ++round)); do
  read -r _ of_cat < <(cat_all)
  for ((i = 0; i < ${#tools[@]}; ++i)); do
    read -r user _ < <(timed "${tools[i]}" -j1 "$folder" -o "$work/out.json")
    read -r _ wall < <(timed "${tools[i]}" -j2 "$folder" -o "$work/out.json")
    echo "$user $wall $of_cat" >> "$work/samples.$i"
  done
done

# column AWK_EXPRESSION FILE: its values, ascending. awk expands $1 to $3, which are user, wall and of_cat.
column() { awk "{ printf \"%.3f\\n\", $1 }" "$2" | sort -n; }
middle() { awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }
echo "$(find "$folder" -maxdepth 1 -name '*.json' | wc -l) files, $((bytes / 1000000)) MB, $rounds rounds"
echo
echo '| tool | user time a GB, least | middle | seconds, two threads | times cat |'
echo '|:-----|----------------------:|-------:|---------------------:|----------:|'
for ((i = 0; i < ${#tools[@]}; ++i)); do
  of=$work/samples.$i
  printf '| %s | %.2f | %.2f | %.2f | %.2f |\n' "${tools[i]}" "$(column "\$1 * 1e9 / $bytes" "$of" | head -n 1)" \
    "$(column "\$1 * 1e9 / $bytes" "$of" | middle)" "$(column "\$2" "$of" | middle)" \
    "$(column "\$2 / (\$3 > 0 ? \$3 : 0.01)" "$of" | middle)"
done
