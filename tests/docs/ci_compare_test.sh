#!/usr/bin/env bash
# The job of docs/ci.md with a program that copies captures in place of training: from no baseline to one, then each
# verdict. ci_compare_test.sh SCRIPT TESTDATA; trace-stats is in PATH.
set -euo pipefail
script=$(realpath "$1")
captures=$(realpath "$2")/compare
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# expect STATUS TEXT VERSION [NAME=VALUE...]: the job of a version ends so and says that.
expect() {
  local wanted=$1 text=$2 version=$3 status=0
  shift 3
  env "$@" FROM="$captures/$version" "$script" store sh -c 'cp "$FROM/c$CAPTURE"/* "$TRACES"' > out.txt 2>&1 || status=$?
  if [ "$status" != "$wanted" ] || ! grep -qF -- "$text" out.txt; then
    echo "FAIL: $version $*: exit $status in place of $wanted, or no '$text':"
    cat out.txt
    exit 1
  fi
}

expect 0 "no baseline yet: store/base.json appears" new
[ ! -e store/base.json ]
expect 0 "these captures are the first baseline" base UPDATE=1
expect 0 "OK: the new step is not longer by 5 %" base
expect 1 "REGRESSION: the new step is longer" new
grep -qF '<details><summary>' compare/comment.md
grep -qF '<failure type="REGRESSION"' compare/junit.xml
grep -qF '"kind":"REGRESSION"' <(tr -d ' \n' < compare/comparison.json)
expect 1 "::error title=trace-stats compare::REGRESSION" new GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY="$work/summary.md"
grep -qF 'REGRESSION: the new step is longer' summary.md
before=$(sha256sum store/base.json)
expect 0 "the baseline has these captures already" base UPDATE=1
expect 1 "REGRESSION" new UPDATE=1
[ "$before" = "$(sha256sum store/base.json)" ] # a regression does not become the baseline
# Captures that the baseline has already would not count again, so these are others: each step is a little longer.
cp -r "$captures/base" later
chmod -R u+w later
perl -i -pe 's/("name":"ProfilerStep.*"dur":)(\d+)/$1 . ($2 + 1)/e' later/*/*
captures=$work expect 0 "these captures joined the baseline" later UPDATE=1
expect 1 "in 2 runs to" new
expect 0 "partly assumed, as if 4 more had shown 1 %, until there are 5 runs" base
# What is in doubt joins, too.
cp -r "$captures/base" doubt
chmod -R u+w doubt
perl -i -pe 's/("(?:ts|dur)":)([\d.]+)/$1 . sprintf("%.3f", $2 * 1.035)/ge' doubt/*/*
captures=$work expect 3 "these captures joined the baseline" doubt UPDATE=1
expect 1 "in 3 runs to" new
[ "$before" != "$(sha256sum store/base.json)" ]
printf 'kernel.time<=+10%%\nloader.exposed<=5%%\n' > gates.txt
expect 3 "INCONCLUSIVE: loader.exposed: no middle step of any capture has such an event" base GATES=gates.txt
expect 0 "INCONCLUSIVE: loader.exposed: no middle step of any capture has such an event" base GATES=gates.txt INCONCLUSIVE=pass
# Another batch is no other time: it says why, leaves the reports, and can be accepted.
cp -r "$captures/base" batch
chmod -R u+w batch
sed -i 's/\[\[512,256\],\[256,512\]\]/[[64,256],[256,64]]/g' batch/*/*
captures=$work expect 2 "INCOMPARABLE: shapes: aten::mm has [[512, 256], [256, 512]]" batch UPDATE=1
grep -qF 'INCOMPARABLE' compare/comment.md
grep -qF 'INCOMPARABLE' compare/junit.xml
cp -r store kept
captures=$work expect 0 "accepted: batch 64" batch UPDATE=1 ACCEPT="batch 64"
captures=$work expect 0 "OK: the new step is not longer by 5 %" batch
rm -rf store
mv kept store
# What cannot be compared is no baseline, and a record command that fails is trouble, whatever its status.
cp -r "$captures/base" short
chmod -R u+w short
sed -i '/ProfilerStep#[4-9]"/d' short/*/*
before=$(sha256sum store/base.json)
captures=$work expect 2 "no capture has 6 steps with a length" short UPDATE=1 ACCEPT=x
[ "$before" = "$(sha256sum store/base.json)" ]
[ "$(FROM=$captures/base "$script" store sh -c 'exit 3' > out.txt 2>&1; echo $?)" = 2 ]
grep -qF 'ci-compare: the record command ended with status 3 in capture 0' out.txt
expect 0 "accepted: larger model" new UPDATE=1 ACCEPT="larger model"
expect 0 "OK: the new step is not longer by 5 %" new
# Trouble of the script itself is 2, too, and a store in compare/ would be gone with each run.
expect 2 "CAPTURES=abc is not a number of captures" new CAPTURES=abc
if FROM=$captures/base "$script" compare/store true > out.txt 2>&1; then exit 1; fi
grep -qF 'compare/store is in compare/, which each run begins anew' out.txt
# A damaged baseline is replaced by what is accepted.
truncate -s 1000 store/base.json
expect 2 "is no whole JSON document" base UPDATE=1
expect 0 "accepted: repair" base UPDATE=1 ACCEPT=repair
expect 0 "OK: the new step" base
# The reason of a first baseline that was accepted is kept.
rm -r store
expect 0 "these captures are the first baseline" base UPDATE=1 ACCEPT="the first one"
grep -qF 'the first one' store/base.json
echo "all jobs ended as they should"
