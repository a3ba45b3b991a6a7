#!/usr/bin/env bash
# SIGKILL of process 0, and of another one, in each stage of merges and of reports by three processes.
#
# dying_transport.cpp kills a process at the beginning of one of its calls of the transport. A stage is the work before
# such a call. Where nothing but a message lies between two calls, the second is no stage: what follows a message to or
# from process 0, and the slices of the exchange of rows, of which the first and the last are taken. Of each stage:
#
#   1. The launcher ends within 40 s (of two tries: it has a deadlock of its own), with an exit code other than 0, and
#      no process of the team is left.
#   2. At the output's name is what was there before: no file, or the old one, byte for byte. Only after process 0 has
#      done all of its work the new output is there, whole.
#   3. Nothing else is in the folder of the output. If process 0 was killed, which had no time to clean up, there may
#      be its hidden file, which the next merge removes.
#   4. A report on stdout is there, whole, only after process 0 has done all of its work.
. "$(dirname "$0")/common.sh"

processes=3
at_once=${TRACELOOM_AT_ONCE:-6}  # the launcher mostly sleeps: it waits for a second before it ends the others
export TRACELOOM_MPI_LIBRARY=$TRACELOOM_DYING_TRANSPORT
ranks=$source_dir/testdata/straggler

launch() { # TOOL ARGUMENTS...
  OMPI_MCA_orte_tmpdir_base=$(mktemp -d "$scratch/session.XXXXXX") timeout 40 mpirun --oversubscribe --bind-to none -n $processes "$tools/$1" --mpi "${@:2}"
}

# stages CALLS: the numbers of the calls in this file before which there is a stage.
stages() {
  awk '$0 == "exchange" { exchange[++exchanges] = NR }
       { call[NR] = $0 }
       END {
         for (i = 1; i <= NR; ++i) {
           follows = call[i - 1] ~ /send|receive/ && call[i] ~ /broadcast|receive/
           alike = exchanges > 2 && i > exchange[2] - 1 && i < exchange[exchanges]
           if (!follows && !alike) print i
         }
       }' "$1"
}

# Whether process 0 has done all of its work when a process comes to one of its calls, the last of which are
# "broadcast", the exit code of process 0, and "end".
is_done() { # VICTIM CALL CALLS
  case $1:$(($3 - $2)) in
    *:0 | 0:1) echo yes ;;
    *:1) echo perhaps ;;
    *) echo no ;;
  esac
}

is_as_it_was() { # OLD OUTPUT
  if [ "$1" = old ]; then cmp -s "$2" ../../old; else [ ! -e "$2" ]; fi
}

check_output() { # DONE OLD OUTPUT
  if [ "$3" = stdout ]; then
    [ "$1" != yes ] && [ ! -s ../stdout ] || { [ "$1" != no ] && cmp ../stdout "$alive/stdout"; }
  else
    [ ! -s ../stdout ] && { { [ "$1" != yes ] && is_as_it_was "$2" "$3"; } || { [ "$1" != no ] && cmp "$3" "$alive/$3"; }; }
  fi
}

# In a folder of its own.
kill_one() { # VICTIM CALL OLD OUTPUT TOOL ARGUMENTS...
  local victim=$1 call=$2 old=$3 output=$4 code left
  tries=$((tries + 1))
  shift 4
  local what="process $victim, call $call, $*"
  local folder=$scratch/$1.$output.$commands.$call
  mkdir -p "$folder/out" && cd "$folder/out" || return 1
  [ "$old" != old ] || cp ../../old "$output"
  TRACELOOM_DIES=$victim:$call launch "$@" > ../stdout 2> ../stderr
  code=$?
  if [ $code = 124 ] && [ "$tries" = 1 ]; then  # mpirun of Open MPI 4.1 sometimes waits for itself at its end
    echo "$what: the launcher hung; once more"
    cd "$scratch" && rm -r "$folder" && kill_one "$victim" "$call" "$old" "$output" "$@"
    return
  fi
  [ $code -ne 0 ] && [ $code -ne 124 ] || fail "$what: exit code $code"
  for process in $(pgrep -f -- "$1 --mpi"); do
    [ "$(readlink "/proc/$process/cwd")" != "$PWD" ] || fail "$what: process $process is left"
  done
  check_output "$(is_done "$victim" "$call" "$(wc -l < "$alive/calls.$victim")")" "$old" "$output" ||
    fail "$what: output ($old before): $(ls -A) $(head -c 300 ../stdout)"
  left=$(find . -mindepth 1 ! -name "$output")
  if [ "$victim" = 0 ] && [[ $left =~ ^\./\.$output\.traceloom-[0-9]+\.tmp$ ]]; then
    "$tools/trace-merge" "$ranks/rank0.json" -o "$output" 2> ../stderr || fail "$what: no merge afterwards"
    left=$(find . -mindepth 1 ! -name "$output")
  fi
  [ -z "$left" ] || fail "$what: it leaves $left"
  rm -r "$folder"
}

# Counts the calls of a run in which all processes live, and kills one at each stage. With old files for one victim.
kill_each() { # OUTPUT OLD-FOR TOOL ARGUMENTS...
  local output=$1 old_for=$2 victim old
  shift 2
  alive=$scratch/alive.$1.$output.$commands
  mkdir "$alive" && cd "$alive" || exit 1
  TRACELOOM_CALLS=$alive/calls launch "$@" > stdout 2> stderr || fail "$*: $(cat stderr)"
  for victim in 0 $((1 + commands / 2 % 2)); do
    commands=$((commands + 1))
    old=$([ "$victim" = "$old_for" ] || { [ "$old_for" = other ] && [ "$victim" != 0 ]; } && echo old || echo none)
    [ "$output" != stdout ] || old=none
    echo "$1 ${2##*/} -> $output ($old), process $victim of $processes: calls $(stages calls.$victim | xargs) of $(wc -l < calls.$victim)"
    local calls=($(stages calls.$victim)) i
    for i in "${!calls[@]}"; do
      # A day takes an eighth of them, and the last two: who is left spins for a second until the launcher ends it.
      is_of_today 8 $((commands + i)) || [ $i -ge $((${#calls[@]} - 2)) ] || continue
      [ "$(jobs -rp | wc -l)" -lt "$at_once" ] || wait -n || failed=1
      (failed=0 tries=0; kill_one "$victim" "${calls[i]}" "$old" "$output" "$@"; exit $failed) &
      kills=$((kills + 1))
    done
  done
}

commands=0
echo old > "$scratch/old"
kills=0
kill_each merged.json 0 trace-merge "$ranks" -o merged.json
kill_each merged.json.gz other trace-merge "$ranks" --min-duration 20us -o merged.json.gz
kill_each stdout none trace-stats summarize "$ranks"
kill_each rows.txt 0 trace-stats summarize "$ranks" -o rows.txt
kill_each stdout none trace-stats bottleneck "$ranks"
kill_each answer.txt other trace-stats bottleneck "$ranks" -o answer.txt
while [ -n "$(jobs -p)" ]; do wait -n || failed=1; done
echo "$kills processes were killed"

# A process that has no memory left in a stage, alone among the others: all end with exit code 2, and it says why.
starve_one() { # VICTIM CALL TOOL ARGUMENTS...
  local victim=$1 call=$2 code
  shift 2
  local folder=$scratch/starved.$victim.$call
  mkdir -p "$folder" && cd "$folder" || return 1
  TRACELOOM_STARVES=$victim:$call launch "$@" > stdout 2> stderr
  code=$?
  [ $code = 2 ] || fail "process $victim starves, call $call, $*: exit code $code"
  [ ! -s stdout ] || fail "process $victim starves, call $call, $*: $(head -c 300 stdout)"
  grep -q 'out of memory' stderr || fail "process $victim starves, call $call, $*: $(head -c 300 stderr)"
}
alive=$scratch/alive.starved
mkdir "$alive" && cd "$alive" || exit 1
TRACELOOM_CALLS=$alive/calls launch trace-stats kernels "$ranks" > stdout 2> stderr || fail "kernels: $(cat stderr)"
for victim in 0 2; do
  # The last two calls are the end, when nothing is left that takes memory.
  for call in $(seq 1 2 $(($(wc -l < "calls.$victim") - 2))); do
    is_of_today 8 || continue
    [ "$(jobs -rp | wc -l)" -lt "$at_once" ] || wait -n || failed=1
    (failed=0; starve_one "$victim" "$call" trace-stats kernels "$ranks"; exit $failed) &
  done
done
while [ -n "$(jobs -p)" ]; do wait -n || failed=1; done
exit $failed
