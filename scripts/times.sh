# How long the parts of a task take; `dev` and .ci/run source this. It is bash.
#
#   begin_times FILE    prints the table of all parts when this shell ends, whether or not it failed
#   begin_part NAME     ends the part before it
#
# FILE gets a line a part: its name, its seconds, and the processor seconds of all that it started (on a machine that
# others use, too, only these can be compared). A task that another one starts adds its parts to the table of that one.

times_own=
part=
times_go_on=  # set by a task that goes on after a failure, and says itself what failed

begin_times() {
  if [ -z "${TRACELOOM_TIMES:-}" ]; then
    export TRACELOOM_TIMES=$PWD/$1
    times_own=1
    mkdir -p "$(dirname "$TRACELOOM_TIMES")"
    : > "$TRACELOOM_TIMES"
  fi
  trap 'end_times $?' EXIT
}

begin_part() {
  end_part
  part=$1
  part_began=$SECONDS
  read_spent
  part_spent=$spent
}

end_part() {
  [ -n "$part" ] || return 0
  read_spent
  echo "$part $((SECONDS - part_began)) $((spent - part_spent))" >> "$TRACELOOM_TIMES"
  part=
}

# Sets `spent`. The second line of `times` is what ended children have used, as "1m2.345s 0m1.000s"; a subshell would have
# none of its own, so this goes by a file.
read_spent() {
  times > "$TRACELOOM_TIMES.now"
  spent=$(awk 'NR == 2 { split($1, user, /[ms]/); split($2, kernel, /[ms]/)
                         printf "%d", 60 * (user[1] + kernel[1]) + user[2] + kernel[2] }' "$TRACELOOM_TIMES.now")
  rm "$TRACELOOM_TIMES.now"
}

end_times() {
  end_part
  [ -n "$times_own" ] || return 0
  echo
  awk 'BEGIN { printf "%-28s %8s %19s\n", "part", "seconds", "processor seconds" }
       { printf "%-28s %8d %19d\n", $1, $2, $3; all += $2; spent += $3 }
       END { printf "%-28s %8d %19d\n", "all", all, spent }' "$TRACELOOM_TIMES"
  [ "$1" -eq 0 ] || [ -n "$times_go_on" ] || echo "failed in: $(tail -n 1 "$TRACELOOM_TIMES" | cut -d' ' -f1)"
}
