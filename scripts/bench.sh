#!/usr/bin/env bash
# Measures trace-merge and trace-stats against what one would use without them: how far from plain copying
# are they, from packing and unpacking, and from other tools that read such traces?
#
#   scripts/bench.sh [--full] [PATTERN]
#
#   --full    8 ranks of 256 MB and one file of 4 GB (12 GB of disk) and not of 64 MB and 512 MB (3 GB)
#   PATTERN   only the rows in whose case it is found (a regular expression)
#
# In the environment:
#   PAIRS=5                   pairs measured for a row
#   MB=64                     text of a rank; the one file has 8 times as much, with --full 16 times
#   TOOLS=build/release/bin   what is measured
#   COMPOSER_MERGER=FILE      Composer's json_trace_merger.py, run by python3: adds a row
#   TRACE_PROCESSOR=FILE      Perfetto's trace_processor_shell, by default the one on the PATH: adds a row
#
# A row is measured in pairs of tool and yardstick, which change their order from pair to pair (A B, B A, ...)
# so that both meet the same states of a shared machine; the first pair warms up and is thrown away. Seconds
# are medians; the ratio is the median of the ratios within the pairs, its range the smallest and largest.
# cpu is the same ratio for seconds of processor time, which the load of the machine changes less. GB/s is
# unpacked text in a second of wall time; the peak is the largest resident set of all runs. The table goes
# to build/bench/results.md as well.
set -euo pipefail
export LC_ALL=C  # times with a decimal point
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pairs=${PAIRS:-5} tools=${TOOLS:-build/release/bin}
composer_merger=${COMPOSER_MERGER:-}
trace_processor=${TRACE_PROCESSOR:-$(command -v trace_processor_shell || true)}
sets=build/bench/sets
work=build/bench/work
report=build/bench/results.md

main() {
  read_arguments "$@"
  mkdir -p "$work"
  trap 'rm -rf "$work"' EXIT
  print_head | tee "$report"
  speed_rows
  memory_rows
  start_up_row
  composer_row
  perfetto_row
  stats_rows
}

read_arguments() {
  pattern=. megabytes=${MB:-64} one_factor=8
  local argument
  for argument in "$@"; do
    case $argument in
      --full) megabytes=${MB:-256} one_factor=16 ;;
      -*) fail "unknown option $argument; there is --full" ;;
      *) pattern=$argument ;;
    esac
  done
  [ -z "$composer_merger" ] || [ -f "$composer_merger" ] || fail "no such file: COMPOSER_MERGER=$composer_merger"
  [ -z "$trace_processor" ] || [ -x "$trace_processor" ] || fail "no such program: TRACE_PROCESSOR=$trace_processor"
}

fail() {
  echo "bench.sh: $*" >&2
  exit 2
}

# --- rows -----------------------------------------------------------------------------------------

speed_rows() {
  merge_row "plain -> plain" 2 1.3 cat_copy ranks plain out.json
  merge_row "plain -> plain" 1 2.2 cat_copy ranks plain out.json
  merge_row "one file, plain -> plain" 2 1.5 cat_copy one plain out.json
  merge_row "gz -> gz" 2 0.35 igzip_both ranks gz out.json.gz
  merge_row "gz -> gz" 2 0.25 pigz_both ranks gz out.json.gz
  merge_row "gz -> plain" 2 0.35 pigz_unpack ranks gz out.json
  merge_row "2,000 files of 0.25 MB" 2 1.5 cat_copy many plain out.json
  # The target of a case that ends with "cpu" is one of processor time, which depends less on the machine.
  merge_row "gz -> gz, cpu" 1 1.10 merge_and_igzip ranks gz out.json.gz
  merge_row "plain -> plain, cpu" 1 - igzip_pack ranks plain out.json
  merge_row "plain -> tar" 2 - cat_copy ranks plain out.tar
}

memory_rows() {
  memory_row "memory, plain -> plain" 128 ranks plain out.json
  memory_row "memory, gz -> gz" 128 ranks gz out.json.gz
  memory_row "memory, one file, plain" 128 one plain out.json
  memory_row "memory, one file, gz" 128 one gz out.json.gz
  memory_row "memory within 32 MiB" 32 ranks plain out.json --max-memory 32MiB
  memory_row "memory within 32 MiB, gz" 32 ranks gz out.json.gz --max-memory 32MiB
}

# The row uses hyperfine without a shell, because a shell takes as long as the measured program.
start_up_row() {
  local input=testdata/small/multi4_rank0.json seconds
  chosen "start-up on 7 KB" || return 0
  tool=("$tools/trace-merge" -o "$work/out.json" "$input")
  timed run_tool
  hyperfine -N --warmup 10 --runs 200 --style none --export-csv "$work/start.csv" "${tool[*]}" \
    > "$work/stderr" 2>&1 || fail "$(cat "$work/stderr")"
  seconds=$(awk -F , 'END { print $(NF - 4) }' "$work/start.csv")  # ..., median, user, system, min, max
  print_limit "start-up on 7 KB" - "$seconds" "$seconds" 0.010 "10 ms" | tee -a "$report"
}

# Composer's merger takes minutes for what takes us a second: it gets 64 MB, and its time is multiplied.
composer_row() {
  [ -n "$composer_merger" ] && chosen "against Composer's merger" || return 0
  load_set small
  local composer_inputs=("${plain[@]}") yardstick_bytes=$text_bytes pairs=$((pairs < 3 ? pairs : 3))
  merge_row "against Composer's merger" 2 1/200 composer ranks plain out.json
}

perfetto_row() {
  [ -n "$trace_processor" ] && chosen "against Perfetto's import" || return 0
  load_set ranks
  "$tools/trace-merge" -o "$work/merged.json" "${plain[@]}" 2> "$work/stderr" || fail "$(cat "$work/stderr")"
  echo 'select count(*) from slice;' > "$work/count.sql"
  local pairs=$((pairs < 3 ? pairs : 3))
  merge_row "against Perfetto's import" 2 1/10 perfetto ranks plain out.json
  rm "$work/merged.json"
}

stats_rows() {
  stats_row "summarize plain" summarize 2 2.5 cat_read ranks plain
  stats_row "summarize plain" summarize 1 - cat_read ranks plain
  stats_row "summarize gz" summarize 2 0.3 pigz_read ranks gz
  stats_row "bottleneck plain" bottleneck 2 - cat_read ranks plain
  stats_row "bottleneck plain" bottleneck 1 - cat_read ranks plain
  # 1.7 times as fast on two cores
  stats_row "summarize beside itself" summarize 2 1/1.7 one_thread ranks plain
  stats_row "summarize, one file" summarize 2 1/1.7 one_thread one plain
  stats_row "bottleneck beside itself" bottleneck 2 1/1.7 one_thread ranks plain
  stats_row "bottleneck, one file" bottleneck 2 1/1.7 one_thread one plain
  stats_memory_row "memory of summarize" summarize
  stats_memory_row "memory of bottleneck" bottleneck
}

# --- yardsticks: the measured times are divided by theirs -----------------------------------------

cat_copy() { cat "${plain[@]}" > "$work/out"; }
cat_read() { cat "${plain[@]}" > /dev/null; }
igzip_both() { igzip -dc "${gz[@]}" | igzip -1 > "$work/out"; }
igzip_pack() { cat "${plain[@]}" | igzip -1 > "$work/out"; }
merge_and_igzip() { "$tools/trace-merge" -o "$work/out.json" --threads 1 "${plain[@]}" && igzip_both; }
pigz_both() { pigz -dc "${gz[@]}" | pigz -1 > "$work/out"; }
pigz_unpack() { pigz -dc "${gz[@]}" > "$work/out"; }
pigz_read() { pigz -dc "${gz[@]}" > /dev/null; }
one_thread() { "$tools/trace-stats" "$stats_command" --threads 1 "${plain[@]}" > "$work/out"; }
composer() { python3 "$composer_merger" -o "$work/out" "${composer_inputs[@]}"; }
perfetto() { "$trace_processor" -q "$work/count.sql" "$work/merged.json" > "$work/out"; }

label_of() {
  case $1 in
    cat_copy) echo 'cat > out' ;;
    cat_read) echo 'cat > /dev/null' ;;
    igzip_both) echo 'igzip -dc \| igzip -1' ;;
    igzip_pack) echo 'igzip -1' ;;
    merge_and_igzip) echo 'plain merge; igzip \| igzip' ;;
    pigz_both) echo 'pigz -dc \| pigz -1' ;;
    pigz_unpack) echo 'pigz -dc > out' ;;
    one_thread) echo 'the same on one thread' ;;
    pigz_read) echo 'pigz -dc > /dev/null' ;;
    composer) echo "python3, $((yardstick_bytes / 1000000)) MB scaled up" ;;
    perfetto) echo 'trace_processor_shell' ;;
  esac
}

# --- inputs ---------------------------------------------------------------------------------------

# load_set NAME: its files in `plain` and `gz`, the size of their text in `text_bytes`.
load_set() {
  local files=8 size=$megabytes
  case $1 in
    one) files=1 size=$((megabytes * one_factor)) ;;
    many) files=2000 size=0.25 ;;
    small) size=8 ;;
  esac
  local folder=$sets/${files}x${size}MB
  make_set "$folder/plain" -n "$files" -m "$size"
  make_set "$folder/gz" -n "$files" -m "$size" --gzip
  plain=("$folder"/plain/*.json)
  gz=("$folder"/gz/*.json.gz)
  text_bytes=$(cat "${plain[@]}" | wc -c)
}

# make_set FOLDER OPTION...: once, and anew when make_traces has changed. It gets its name when it is whole.
make_set() {
  [ ! "$1" -nt build/release/bin/make_traces ] || return 0
  echo "making $1 ..." >&2
  rm -rf "$1" "$1.part"
  build/release/bin/make_traces "$1.part" "${@:2}" > /dev/null
  touch "$1.part"
  mv "$1.part" "$1"
}

# --- measuring ------------------------------------------------------------------------------------

chosen() { [[ $1 =~ $pattern ]]; }

# merge_row CASE THREADS TARGET YARDSTICK SET KIND OUTPUT
merge_row() {
  chosen "$1" || return 0
  load_set "$5"
  local -n inputs=$6
  tool=("$tools/trace-merge" -o "$work/$7" --threads "$2" "${inputs[@]}")
  pairs_row "${@:1:4}"
}

# stats_row CASE COMMAND THREADS TARGET YARDSTICK SET KIND
stats_row() {
  chosen "$1" || return 0
  load_set "$6"
  local -n inputs=$7
  local stats_command=$2
  tool=("$tools/trace-stats" "$2" --threads "$3" "${inputs[@]}")
  pairs_row "$1" "${@:3:3}"
}

# stats_memory_row CASE COMMAND: summarize may take 64 MiB and 8 bytes an event, all else 15 % of the text
stats_memory_row() {
  chosen "$1" || return 0
  load_set ranks
  local mib=$((text_bytes * 15 / 100 / 1048576))
  [ "$2" != summarize ] || mib=$((64 + $(cat "${plain[@]}" | grep -c '"ph"') * 8 / 1048576))
  tool=("$tools/trace-stats" "$2" --threads 2 "${plain[@]}")
  peak_row "$1" "$mib"
}

# memory_row CASE MIB SET KIND OUTPUT [OPTION...]
memory_row() {
  chosen "$1" || return 0
  load_set "$3"
  local -n inputs=$4
  tool=("$tools/trace-merge" -o "$work/$5" --threads 2 "${@:6}" "${inputs[@]}")
  peak_row "$1" "$2"
}

# peak_row CASE MIB: of `tool`
peak_row() {
  local largest=0
  measure_tool && measure_tool && measure_tool
  peak_kib=$largest
  print_limit "$1" 2 "${elapsed_ms}e-3" "$peak_kib" $(($2 * 1024)) "$2 MiB" | tee -a "$report"
}

# pairs_row CASE THREADS TARGET YARDSTICK: of `tool`
pairs_row() {
  local pair largest=0 tool_ms yardstick_ms
  : > "$work/samples"
  for ((pair = 0; pair <= pairs; pair++)); do
    if ((pair % 2)); then
      measure_tool
      measure_yardstick "$4"
    else
      measure_yardstick "$4"
      measure_tool
    fi
    [ $pair = 0 ] || echo "$tool_ms $yardstick_ms" >> "$work/samples"
  done
  print_pairs "$1" "$2" "$3" "$(label_of "$4")" | tee -a "$report"
}

measure_tool() {
  timed run_tool
  tool_ms="$elapsed_ms $cpu_ms"
  largest=$((peak_kib > largest ? peak_kib : largest))
}

# If the yardstick processed less text than the tool, its time is scaled up.
measure_yardstick() {
  timed "$1"
  local bytes=${yardstick_bytes:-$text_bytes}
  yardstick_ms="$((elapsed_ms * text_bytes / bytes)) $((cpu_ms * text_bytes / bytes))"
}

# timed COMMAND...: sets elapsed_ms and cpu_ms. Output is removed at once, so that the kernel does not write it
# to disk during the next run.
timed() {
  local TIMEFORMAT='%3R %3U %3S' elapsed user system
  { time "$@" 2> "$work/stderr"; } 2> "$work/time" || { cat "$work/stderr" >&2; fail "$1 failed"; }
  read -r elapsed user system < "$work/time"
  elapsed_ms=$((10#${elapsed/./}))
  cpu_ms=$((10#${user/./} + 10#${system/./}))
  rm -f "$work"/out*
}

run_tool() {
  /usr/bin/time -f %M -o "$work/peak" "${tool[@]}" > "$work/out.stdout" && peak_kib=$(< "$work/peak")
}

# --- the table ------------------------------------------------------------------------------------

columns='| %-26s | %7s | %8s | %-24s | %8s | %6s | %11s | %7s | %-3s | %6s | %5s | %8s |\n'

print_head() {
  local cpu
  cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
  echo "$(nproc) x $cpu, $(awk '/^MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo) GiB;" \
    "commit $(git describe --always --dirty 2> /dev/null || echo unknown); 8 ranks of $megabytes MB;" \
    "$pairs pairs, medians; load $(cut -d ' ' -f 1 /proc/loadavg) at the start"
  echo
  # shellcheck disable=SC2059
  printf "$columns" case threads seconds yardstick seconds ratio range target met cpu GB/s "peak MiB"
  printf '|:%s|%s:|%s:|:%s|%s:|%s:|%s:|%s:|:%s|%s:|%s:|%s:|\n' --------------------------- -------- --------- \
    ------------------------- --------- ------- ------------ -------- ---- ------- ------ ---------
}

# print_pairs CASE THREADS TARGET YARDSTICK: of the samples; targets are a ratio ("1.3", "1/200") or "-".
print_pairs() {
  yardstick=$4 awk -v columns="$columns" -v name="$1" -v threads="$2" -v target="$3" \
    -v bytes="$text_bytes" -v peak_kib="$largest" '
    function sort(values, n,    i, j, v) {
      for (i = 2; i <= n; i++) {
        v = values[i]
        for (j = i - 1; j >= 1 && values[j] > v; j--) values[j + 1] = values[j]
        values[j + 1] = v
      }
    }
    function median(values, n) { return (values[int((n + 1) / 2)] + values[int(n / 2) + 1]) / 2 }
    function shown(ratio) {
      if (target !~ "/") return sprintf("%.2f", ratio)
      return sprintf(ratio < 0.1 ? "1/%.0f" : "1/%.2f", 1 / ratio)
    }
    { tool[NR] = $1 / 1e3; other[NR] = $3 / 1e3; ratio[NR] = $1 / $3; cpu[NR] = $2 / $4 }
    END {
      sort(tool, NR); sort(other, NR); sort(ratio, NR); sort(cpu, NR)
      split(target, parts, "/")
      limit = parts[2] ? parts[1] / parts[2] : parts[1]
      judged = name ~ /, cpu$/ ? median(cpu, NR) : median(ratio, NR)
      met = target == "-" ? "-" : judged <= limit ? "yes" : "no"
      printf columns, name, threads, sprintf("%.3f", median(tool, NR)), ENVIRON["yardstick"],
             sprintf("%.3f", median(other, NR)), shown(median(ratio, NR)),
             shown(ratio[1]) "-" shown(ratio[NR]), target, met, shown(median(cpu, NR)),
             sprintf("%.2f", bytes / median(tool, NR) / 1e9), sprintf("%.1f", peak_kib / 1024)
    }' "$work/samples"
}

# print_limit CASE THREADS SECONDS VALUE LIMIT TARGET: without a yardstick; the ratio is that to the limit.
print_limit() {
  awk -v columns="$columns" -v name="$1" -v threads="$2" -v seconds="$3" -v value="$4" -v limit="$5" \
    -v target="$6" -v peak_kib="$peak_kib" '
    BEGIN {
      printf columns, name, threads, sprintf("%.3f", seconds), "-", "-", sprintf("%.2f", value / limit), "-",
             target, value <= limit ? "yes" : "no", "-", "-", sprintf("%.1f", peak_kib / 1024)
    }' < /dev/null
}

main "$@"
