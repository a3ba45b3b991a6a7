#!/usr/bin/env bash
# What happens when a file is bad, or the launcher and the options do not fit. (killed.sh kills processes.)
. "$(dirname "$0")/common.sh"

# expect WORDS COMMAND...: exit code 2, nothing on stdout, and these words on stderr.
expect() {
  local words=$1 code
  shift
  "$@" > "$scratch/stdout" 2> "$scratch/stderr"
  code=$?
  [ $code -eq 2 ] || fail "exit code $code instead of 2: $*"
  [ ! -s "$scratch/stdout" ] || fail "there is output: $*"
  [ "$(cat "$scratch/stderr")" = "$words" ] || fail "other words: $(cat "$scratch/stderr")"$'\n'"instead of:  $words"
}

ranks=$scratch/ranks
mkdir "$ranks"
for rank in 0 1 2 3 4 5; do
  cp "$source_dir/testdata/cycles/ep0-ba7-rank0.json" "$ranks/rank$rank.json"
done
advice='; --keep-going leaves it out'

# 1. A file that one process alone reads: the lowest is reported, whoever is first.
echo '{"no": "trace"}' > "$ranks/rank5.json"
"$tools/trace-stats" summarize "$ranks"/rank*.json > /dev/null 2> "$scratch/words"
for processes in 2 3 8; do expect "$(cat "$scratch/words")" by $processes trace-stats summarize "$ranks"/rank*.json; done
printf '{"a' > "$ranks/rank3.json"
expect "trace-stats: $ranks/rank3.json: byte 3: the file is cut before its events begin$advice" \
  by 3 trace-stats summarize "$ranks"/rank*.json
expect "trace-stats: $ranks/rank3.json: byte 3: the file is cut before its events begin$advice" \
  by 3 trace-stats bottleneck "$ranks"/rank*.json
rm "$ranks/rank3.json"
expect "trace-stats: $ranks/rank3.json: No such file or directory" \
  by 3 trace-stats info "$ranks"/rank{0,3}.json
rm "$ranks/rank5.json"

# 2. An answer of one process is that of all: a gate that fails.
by 3 trace-stats summarize "$ranks" --fail-on 'forward.max>1ns' > /dev/null 2>&1
code=$?
"$tools/trace-stats" summarize "$ranks" --fail-on 'forward.max>1ns' > /dev/null 2>&1
[ $? -eq $code ] || fail "--fail-on: exit code $code by three processes"

# 3. A full disk.
if [ -w /dev/full ]; then
  "$tools/trace-stats" summarize "$ranks" -o /dev/full 2> "$scratch/words"
  expect "$(cat "$scratch/words")" by 3 trace-stats summarize "$ranks" -o /dev/full
fi

# 4. Several processes without --mpi, or stdin with it, or no library.
refusal="trace-stats: this is one of 2 processes that a launcher started, and each would do the same work; --mpi shares \
it among them, and TRACELOOM_ALONE=1 in the environment lets them run"
expect "$refusal" env OMPI_COMM_WORLD_SIZE=2 "$tools/trace-stats" summarize "$ranks"
expect "trace-stats: srun started 2 processes that know nothing of each other; srun --mpi=pmix joins those of Open MPI, \
which the package traceloom-mpi is for, and --mpi=pmi2 those of MPICH" \
  env SLURM_STEP_NUM_TASKS=2 "$tools/trace-stats" summarize --mpi "$ranks"
env OMPI_COMM_WORLD_SIZE=2 TRACELOOM_ALONE=1 "$tools/trace-stats" summarize "$ranks" > /dev/null ||
  fail 'TRACELOOM_ALONE=1 does not let a process run'
expect 'trace-stats: --mpi cannot read stdin: save the trace as a file' by 2 trace-stats summarize -
# --mpi may stand after the command; help and the version need no good start.
[ "$("$tools/trace-stats" steps "$ranks" --mpi)" = "$("$tools/trace-stats" steps "$ranks")" ] || fail 'steps RUN --mpi'
start="SLURM_STEP_NUM_TASKS=2 OMPI_COMM_WORLD_SIZE=2 TRACELOOM_MPI_LIBRARY=none.so"
for words in --version --help "steps --help" "--mpi --version" "steps --mpi -h" "--mpi steps --help" ""; do
  # shellcheck disable=SC2086
  [ "$(env $start "$tools/trace-stats" $words 2>&1)" = "$("$tools/trace-stats" ${words/--mpi/} 2>&1)" ] ||
    fail "under a launcher: trace-stats $words"
done
expect "$refusal" env OMPI_COMM_WORLD_SIZE=2 "$tools/trace-stats" summarize "$ranks" -o -h
expect 'trace-stats: --mpi takes no value; see trace-stats steps --help' "$tools/trace-stats" steps "$ranks" --mpi=1
TRACELOOM_MPI_LIBRARY=$scratch/none.so "$tools/trace-stats" --mpi summarize "$ranks" 2> "$scratch/words"
grep -q 'trace-stats: --mpi needs libtraceloom_mpi.so, which cannot be opened (.*none.so.*); install the package traceloom-mpi' \
  "$scratch/words" || fail "no advice where the library is missing: $(cat "$scratch/words")"

# 5. The tools themselves need no MPI.
! ldd "$tools/trace-stats" | grep -i mpi || fail 'trace-stats is linked to an MPI'

# 6. A process that may use one core of several is told how to get the others.
if [ "$(nproc)" -gt 1 ]; then
  taskset -c 0 "$tools/trace-stats" --mpi summarize "$ranks" 2>&1 > /dev/null |
    grep -q "warning: process 0 may use 1 of the machine's $(nproc) cores: mpirun --bind-to none" ||
    fail 'no warning of a bound process'
fi
exit $failed
