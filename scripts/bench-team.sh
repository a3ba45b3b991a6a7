#!/usr/bin/env bash
# Measures processes under MPI beside one process: `./dev bench team`.
#
#   scripts/bench-team.sh [RANKS] [MEGABYTES]      (2,000 ranks of 4 MB, 8 GB in build/bench)
#
# 1. `trace-stats` summarize, bottleneck, kernels and comm by two processes of one thread each, beside one process of
#    two threads: wall time (the start of mpirun included), processor time and the peak of the memory of a process; the
#    middle of five pairs. The limits are those of summarize.
# 2. What grows with the number of files: 100, 1,000 and 10,000 files of 0.1 MB, by two processes. They have 14 threads
#    each, more in all than a merge takes without --max-tracks. docs/scale.md has this table.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ranks=${1:-2000} megabytes=${2:-4} pairs=${PAIRS:-5}
tools=build/release/bin
work=build/bench/team
mkdir -p "$work"
# Open MPI refuses root, which benchmarks in containers often are.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# make_ranks FOLDER COUNT MEGABYTES
make_ranks() {
  [ "$(find "$1" -name '*.json' 2> /dev/null | wc -l)" = "$2" ] && return
  rm -rf "$1"
  "$tools/make_traces" -n "$2" -m "$3" "$1" > /dev/null
}

# measure FILE COMMAND...: adds "seconds processor KiB" to the file.
measure() {
  local file=$1
  shift
  /usr/bin/time -f '%e %U %S %M' -a -o "$file" "$@" > "$work/stdout" 2> "$work/stderr"
}

# team FILE COMMAND...: the same by two processes. The peak of each process is in FILE.peaks.
team() {
  local file=$1
  shift
  measure "$file" mpirun --oversubscribe --bind-to none -n 2 /usr/bin/time -f '%M' -a -o "$file.peaks" "$@"
}

middle() { sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }
seconds_of() { awk '{ print $1 }' "$1" | middle; }
processor_of() { awk '{ print $2 + $3 }' "$1" | middle; }

of_ranks=$work/${ranks}x${megabytes}MB
make_ranks "$of_ranks" "$ranks" "$megabytes"
# beside COMMAND: prints the rows of one process and of two.
beside() {
  local pair peak_one peak_two
  rm -f "$work"/{one,two}*
  for ((pair = 0; pair < pairs; ++pair)); do
    measure "$work/one" "$tools/trace-stats" "$1" "$of_ranks" -j2
    cp "$work/stdout" "$work/expected"
    team "$work/two" "$tools/trace-stats" --mpi "$1" "$of_ranks" -j1
    cmp "$work/expected" "$work/stdout"
  done
  peak_one=$(awk '{ print $4 }' "$work/one" | sort -n | tail -n 1)
  peak_two=$(sort -n "$work/two.peaks" | tail -n 1)
  printf '| %s | one, two threads | %.2f | %.2f | %.1f MiB |\n' \
    "$1" "$(seconds_of "$work/one")" "$(processor_of "$work/one")" "$(awk "BEGIN { print $peak_one / 1024 }")"
  printf '| | two of one thread | %.2f | %.2f | %.1f MiB |\n' \
    "$(seconds_of "$work/two")" "$(processor_of "$work/two")" "$(awk "BEGIN { print $peak_two / 1024 }")"
  awk "BEGIN { printf \"| | ratio | %.2f (limit 1.15) | %.2f | limit %.1f MiB |\n\", \
    $(seconds_of "$work/two") / $(seconds_of "$work/one"), $(processor_of "$work/two") / $(processor_of "$work/one"), \
    $peak_one / 2048 + 32 }"
}
team "$work/start" "$tools/trace-stats" --mpi info testdata/small/multi4_rank0.json
echo "$ranks ranks of $megabytes MB; two processes take $(seconds_of "$work/start") s to start, join and end"
echo
echo '| command | processes | seconds | processor | peak of a process |'
echo '|:--------|:----------|--------:|----------:|------------------:|'
for command in summarize bottleneck kernels comm; do beside "$command"; done

echo
echo '| files of 0.1 MB, two processes | command | seconds | peak of a process |'
echo '|-------------------------------:|:--------|--------:|------------------:|'
# grown COUNT NAME COMMAND...: prints a row.
grown() {
  rm -f "$work"/grown*
  team "$work/grown" "${@:3}"
  printf '| %s | %s | %.2f | %.1f MiB |\n' "$1" "$2" "$(seconds_of "$work/grown")" \
    "$(sort -n "$work/grown.peaks" | tail -n 1 | awk '{ print $1 / 1024 }')"
}
for count in 100 1000 10000; do
  files=$work/tiny$count
  make_ranks "$files" $count 0.1
  grown $count summarize "$tools/trace-stats" --mpi summarize "$files" -j1
  grown $count bottleneck "$tools/trace-stats" --mpi bottleneck "$files" -j1
  grown $count trace-merge "$tools/trace-merge" --mpi "$files" --max-tracks 1000000 -j1 -o "$work/merged.json"
  rm -f "$work/merged.json"
done
