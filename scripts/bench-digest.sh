#!/usr/bin/env bash
# Measures digests of stored traces: `./dev bench digest`.
#
#   scripts/bench-digest.sh [FOLDER]      (../shared/traces, its traces of 1 MB of text and more)
#
# A row a trace: text, digest and gzip -6 in thousandths of it, and how many MB of text one thread packs and reads in a
# second of processor time (the best of three; reading is `summarize`, beside that of the text itself).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:-../shared/traces}
tool=$PWD/build/release/bin/trace-stats
work=build/bench/digest
mkdir -p "$work"
least=1000000

# speed BYTES COMMAND...: MB a second of processor time.
speed() {
  local bytes=$1
  shift
  [ "$bytes" -ge 5000000 ] || { printf -- '-'; return; }  # it takes too little time
  for _ in 1 2 3; do /usr/bin/time -f '%U %S' -o "$work/time" "$@" > /dev/null 2> "$work/words" && tail -n 1 "$work/time"; done |
    awk -v bytes="$bytes" '{ t = $1 + $2; if (NR == 1 || t < best) best = t } END { printf "%.0f", bytes / 1e6 / (best > 0 ? best : 0.01) }'
}

echo '| trace | MB | digest, per mille | gzip | packs MB/s | reads MB/s | text MB/s |'
echo '|:------|---:|------------------:|-----:|-----------:|-----------:|----------:|'
find "$folder" -type f \( -name '*.json' -o -name '*.json.gz' \) ! -name '*.facts.json' -size +0 | sort |
  while read -r trace; do
    zcat -f "$trace" > "$work/trace.json" 2> "$work/words" || continue
    bytes=$(stat -c %s "$work/trace.json")
    [ "$bytes" -ge $least ] || continue
    "$tool" digest "$work/trace.json" -o "$work/trace.digest" > "$work/words" 2>&1 || continue
    packed=$(stat -c %s "$work/trace.digest") gzip=$(gzip -6 -c "$work/trace.json" | wc -c)
    printf '| %s | %s | %s | %s | %s | %s | %s |\n' "${trace#"$folder"/}" \
      "$(awk -v b="$bytes" 'BEGIN { printf "%.1f", b / 1e6 }')" \
      "$(awk -v b="$bytes" -v p="$packed" 'BEGIN { printf "%.1f", 1000 * p / b }')" \
      "$(awk -v b="$bytes" -v p="$gzip" 'BEGIN { printf "%.0f", 1000 * p / b }')" \
      "$(speed "$bytes" "$tool" digest "$work/trace.json" -j 1 -o "$work/again.digest")" \
      "$(speed "$bytes" "$tool" summarize "$work/trace.digest" -j 1)" \
      "$(speed "$bytes" "$tool" summarize "$work/trace.json" -j 1)"
  done | sort -t '|' -k 4 -n
rm -f "$work"/*
