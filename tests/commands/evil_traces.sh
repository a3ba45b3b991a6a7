#!/usr/bin/env bash
# Makes a folder of traces whose names, categories and file names hold what a terminal, Markdown or HTML would obey.
#
#   evil_traces.sh TESTDATA FOLDER
set -euo pipefail
export LC_ALL=C.UTF-8
testdata=$1
folder=$2
evil=$'\\\\u001b]0;x\\\\u0007\\\\nINJECTED\\\\r\\\\u009b31m\\\\u202e|<b>\x1b[5m\xff'
mkdir "$folder"
for input in "$testdata"/small/{multi4,devices2,memory,composer_ep0-ba3-}*rank[01].json "$testdata"/demo/composer/ep0-ba8-rank[01].json; do
  # Traces of several captures are of one rank and one time, which no command takes: each gets ranks of its own.
  case $input in *devices2*) ranks=1 ;; *memory*) ranks=2 ;; *) ranks= ;; esac
  LC_ALL=C sed -e '/ProfilerStep\|"ph": "M"/!s/"\(name\|cat\)": "\([a-zA-Z][^"]*\)"/"\1": "\2'"$evil"'"/
/"ph": "M"/s/"args": {"name": "\([^"]*\)"/"args": {"name": "\1'"$evil"'"/' -e 's/"cat": "\(cpu_op\|kernel\|gpu_memcpy\|gpu_memset\|cuda_runtime\|user_annotation\|cpu_instant_event\)[^"]*"/"cat": "\1"/' -e 's/"rank": \([01]\),/"rank": '"$ranks"'\1,/' \
    "$input" > "$folder/"$'evil\x1b]0;x\x07\nINJECTED\r\xc2\x9b|<b> '"$(basename "$input")"
done
