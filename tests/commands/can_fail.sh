#!/usr/bin/env bash
# The tests of every command fail for a command that does everything wrong, and say so.
#
#   can_fail.sh SOURCE_DIR INPUTS SCRATCH
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$here/wrong:$PATH TRACELOOM_BY_PROCESSES=$here/wrong TRACELOOM_ALL_TRIES=1
failed=0
for check in $(cut -d ' ' -f 1 "$here/wrong/expected" | sort -u); do
  said=$("$here/$check.sh" wrong "$1" "$2" "$3" 2>&1) && { echo "$check passes"; failed=1; }
  while read -r _ sentence; do
    [[ $said == *"trace-stats wrong: $sentence"* ]] || { echo "$check does not say '$sentence' but: $said"; failed=1; }
  done < <(grep "^$check " "$here/wrong/expected")
done
said=$("$here/list.sh" "$1" gpu 2>&1) && { echo "list passes"; failed=1; }
for sentence in 'command_gpu.cpp registers no command of that name' 'the command wrong is in no file command_wrong.cpp'; do
  [[ $said == *"$sentence"* ]] || { echo "list does not say '$sentence' but: $said"; failed=1; }
done
rm -rf "$3"
exit $failed
