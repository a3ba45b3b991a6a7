#!/usr/bin/env bash
# Compares a new version with a stored baseline: what a CI job runs (docs/ci.md has jobs for GitHub and GitLab).
#
#   scripts/ci-compare.sh STORE COMMAND [ARGUMENT...]
#
# COMMAND runs the new version with the profiler on, once for each capture, and writes the traces of all ranks into
# the folder that $TRACES names; $CAPTURE is the number of the capture, from 0 on. STORE is a folder that the job
# keeps from run to run; base.json in it is the baseline. Results are written to compare/: comment.md, junit.xml,
# comparison.json.
#
#   CAPTURES=3          captures to take
#   GATES=FILE          conditions besides the step, one a line (trace-stats compare --gate @FILE)
#   UPDATE=1            the job runs on the main branch: its captures join the baseline as a run, but for a REGRESSION
#   ACCEPT=REASON       with UPDATE: a change that is meant to cost time, or another batch, device or number of ranks,
#                       begins a new baseline
#   INCONCLUSIVE=pass   INCONCLUSIVE does not fail the job
#
# The exit code is that of trace-stats compare --gate: 0 OK, 1 REGRESSION, 3 INCONCLUSIVE, 2 trouble.
set -euo pipefail
if [ $# -lt 2 ]; then
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
fi
store=$1
shift
captures=${CAPTURES:-3}
base=$store/base.json

# Trouble must not end with a status that is an answer.
trouble() {
  echo "ci-compare: $1" >&2
  exit 2
}
[[ $captures =~ ^[1-9][0-9]*$ ]] || trouble "CAPTURES=$captures is not a number of captures"
[ -x "$(command -v trace-stats)" ] || trouble "trace-stats is not on PATH"
case $(realpath -m -- "$store")/ in
  "$PWD"/compare/*) trouble "$store is in compare/, which each run begins anew: keep the store elsewhere" ;;
esac
rm -rf compare
mkdir -p compare "$store" || trouble "no folder for the store: $store"
for ((CAPTURE = 0; CAPTURE < captures; ++CAPTURE)); do
  export CAPTURE TRACES=$PWD/compare/new/c$CAPTURE
  mkdir -p "$TRACES"
  # Its status must not pass for an answer of the comparison.
  "$@" || trouble "the record command ended with status $? in capture $CAPTURE: $*"
done

if [ ! -e "$base" ]; then
  if [ "${UPDATE:-}" = 1 ]; then
    trace-stats baseline compare/new -o "$base"
    [ -z "${ACCEPT:-}" ] || trace-stats baseline accept compare/new -o "$base" --reason "$ACCEPT"
    echo "ci-compare: these captures are the first baseline, $base"
  else
    echo "ci-compare: no baseline yet: $base appears with the first run on the main branch"
  fi
  exit 0
fi

# The traces are read once; comparing two baselines takes milliseconds. The captures share their day, so they are a run.
trace-stats baseline compare/new -o compare/new.json
options=(--by-run --inconclusive "${INCONCLUSIVE:-fail}" --gate ${GATES:+"@$GATES"})
# The last one says what is wrong, and all write what they found: INCOMPARABLE has a reason, too.
trace-stats compare "$base" compare/new.json "${options[@]}" --format json -o compare/comparison.json 2> /dev/null || true
trace-stats compare "$base" compare/new.json "${options[@]}" --format md -o compare/comment.md 2> /dev/null || true
trace-stats compare "$base" compare/new.json "${options[@]}" --format junit -o compare/junit.xml 2> /dev/null || true
form=table
[ -z "${GITHUB_ACTIONS:-}" ] || form=github
status=0
trace-stats compare "$base" compare/new.json "${options[@]}" --format "$form" || status=$?

if [ "${UPDATE:-}" = 1 ] && [ -n "${ACCEPT:-}" ]; then
  trace-stats baseline accept compare/new -o "$base" --reason "$ACCEPT"
  echo "ci-compare: accepted: $ACCEPT"
  exit 0
fi
# A baseline that takes only what passes would show less noise than there is: INCONCLUSIVE joins, too.
if [ "${UPDATE:-}" = 1 ] && { [ "$status" = 0 ] || [ "$status" = 3 ]; }; then
  cp "$base" compare/base.json
  trace-stats baseline compare/new -o "$base" --append
  if cmp -s "$base" compare/base.json; then
    echo "ci-compare: the baseline has these captures already"
  else
    echo "ci-compare: these captures joined the baseline"
  fi
fi
exit "$status"
