#!/usr/bin/env bash
# Measures trace-merge and trace-stats against `cat` on the same bytes: how far from the speed of plain
# copying and reading are they?
#
#   scripts/bench.sh [PATTERN]                     only the rows that match the pattern
#   RANKS=8 MB=64 PAIRS=5 TOOLS=build/release/bin  in the environment: the defaults
#
# A row is measured in pairs, cat and tool by turns (A B A B ...), so that both meet the same state of
# a shared machine; the first pair warms up and is thrown away. Printed are medians; the ratio is the
# median of the ratios within the pairs. Peak memory is the largest resident set of all runs.
# The table goes to build/bench/results.md as well, in Markdown.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pattern=${1:-.}
ranks=${RANKS:-8} megabytes=${MB:-64} pairs=${PAIRS:-5} tools=${TOOLS:-build/release/bin}
set_folder=build/bench/${ranks}x${megabytes}MB
work=build/bench/work
report=build/bench/results.md

main() {
  mkdir -p "$work"
  make_set plain
  make_set gz --gzip
  plain=("$set_folder"/plain/*.json)
  gz=("$set_folder"/gz/*.json.gz)
  text_bytes=$(cat "${plain[@]}" | wc -c)
  print_head | tee "$report"

  local threads
  for threads in 2 1; do
    merge_row "merge plain -> plain" $threads out.json "${plain[@]}"
    merge_row "merge within 32 MiB" $threads out.json --max-memory 32MiB "${plain[@]}"
    merge_row "merge plain -> tar" $threads out.tar "${plain[@]}"
    merge_row "merge gz -> gz" $threads out.json.gz "${gz[@]}"
    merge_row "merge gz -> plain" $threads out.json "${gz[@]}"
    summary_row "summarize plain" $threads "${plain[@]}"
    summary_row "summarize gz" $threads "${gz[@]}"
  done
  rm -rf "$work"
}

# make_set KIND [OPTION...]: once, and anew when make_traces has changed.
make_set() {
  local folder=$set_folder/$1
  if [ ! "$folder" -nt build/release/bin/make_traces ]; then
    rm -rf "$folder"
    build/release/bin/make_traces "$folder" -n "$ranks" -m "$megabytes" "${@:2}" >&2
    touch "$folder"
  fi
}

print_head() {
  local cpu
  cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
  echo "$ranks ranks, $((text_bytes / 1000000)) MB of text; $(nproc) x $cpu; $pairs pairs, medians;" \
    "commit $(git describe --always --dirty 2> /dev/null || echo unknown)"
  echo
  printf '| %-22s | %7s | %8s | %8s | %6s | %9s | %8s |\n' \
    what threads "wall s" "cat s" "x cat" "GB/s/core" "peak MiB"
  printf '|:%s|%s:|%s:|%s:|%s:|%s:|%s:|\n' ----------------------- -------- --------- --------- \
    ------- ---------- ---------
}

# merge_row NAME THREADS OUTPUT INPUT...: against copying the same text.
merge_row() {
  copy_command=(cat "${plain[@]}") copy_target=$work/copy
  measure "$1" "$2" "$tools/trace-merge" -o "$work/$3" --threads "$2" "${@:4}"
}

# summary_row NAME THREADS INPUT...: against reading the same text.
summary_row() {
  copy_command=(cat "${plain[@]}") copy_target=/dev/null
  measure "$1" "$2" "$tools/trace-stats" summarize --threads "$2" "${@:3}"
}

# measure NAME THREADS COMMAND...
measure() {
  local name=$1 threads=$2 pair
  [[ $name =~ $pattern ]] || return 0
  : > "$work/samples"
  for ((pair = 0; pair <= pairs; pair++)); do
    timed "$copy_target" "${copy_command[@]}"
    local copy_us=$elapsed_us
    timed "$work/stdout" "${@:3}"
    [ "$pair" = 0 ] || echo "$elapsed_us $copy_us $peak_kib" >> "$work/samples"
  done
  print_row "$name" "$threads" | tee -a "$report"
}

# timed STDOUT COMMAND...: sets elapsed_us and peak_kib. Output is removed at once, so that the kernel does not
# write it to disk during the next run.
timed() {
  local begin=${EPOCHREALTIME/./}
  if ! /usr/bin/time -f %M -o "$work/peak" "${@:2}" > "$1" 2> "$work/stderr"; then
    cat "$work/stderr" >&2
    echo "bench.sh: failed: ${*:2:4} ..." >&2
    exit 1
  fi
  elapsed_us=$((${EPOCHREALTIME/./} - begin))
  peak_kib=$(tail -n 1 "$work/peak")
  rm -f "$work"/copy "$work"/out.*
}

print_row() {
  awk -v name="$1" -v threads="$2" -v bytes="$text_bytes" '
    function median(values, n,    i, j, v) {
      for (i = 2; i <= n; i++) {
        v = values[i]
        for (j = i - 1; j >= 1 && values[j] > v; j--) values[j + 1] = values[j]
        values[j + 1] = v
      }
      return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
    }
    { tool[NR] = $1 / 1e6; copy[NR] = $2 / 1e6; ratio[NR] = $1 / $2; if ($3 > peak) peak = $3 }
    END {
      wall = median(tool, NR)
      printf "| %-22s | %7d | %8.3f | %8.3f | %6.2f | %9.3f | %8.1f |\n", name, threads, wall,
             median(copy, NR), median(ratio, NR), bytes / wall / threads / 1e9, peak / 1024
    }' "$work/samples"
}

main
