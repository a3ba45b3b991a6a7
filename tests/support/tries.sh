# The twin of tries.h for scripts in bash, which source this.
#
#   for case in "${cases[@]}"; do is_of_today || continue; ...    # each fourth, or at night all
#   is_of_today 2                                                 # each second
turn=0
is_of_today() {
  [ -n "${TRACELOOM_ALL_TRIES:-}" ] || [ $((turn++ % ${1:-4})) = 0 ]
}
