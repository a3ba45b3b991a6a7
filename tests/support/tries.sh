# The twin of tries.h for scripts in bash, which source this.
#
#   for case in "${cases[@]}"; do is_of_today || continue; ...    # each fourth, or at night all
#   is_of_today 2 $((set + format))                               # each second, by a number of your own
turn=0
is_of_today() {
  [ -n "${TRACELOOM_ALL_TRIES:-}" ] || [ $((${2:-turn++} % ${1:-4})) = 0 ]
}
