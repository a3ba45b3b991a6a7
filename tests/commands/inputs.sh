#!/usr/bin/env bash
# Makes the inputs of the tests of every command, once for all of them.
#
#   PATH=<bin folder>:$PATH inputs.sh TESTDATA FOLDER
#
# FOLDER/SET/plain    traces of the ranks of a run
# FOLDER/SET/merged   a merge of them
# FOLDER/SET/both     both, and a packed copy of one of them, in one folder
# FOLDER/evil         traces of evil_traces.sh
set -euo pipefail
export LC_ALL=C.UTF-8 TZ=UTC
testdata=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"

make_set() {
  local set=$folder/$1 first
  shift
  mkdir -p "$set/plain" "$set/merged" "$set/both"
  cp "$@" "$set/plain"
  trace-merge "$set/plain" -o "$set/merged/node0.json" 2> "$set/merge.err"
  cp "$set"/plain/* "$set/merged/node0.json" "$set/both"
  first=$(ls "$set"/plain/*rank1* | head -n 1)
  gzip -nc "$first" > "$set/both/again.json.gz"
}

make_set composer "$testdata"/demo/composer/*
make_set kineto "$testdata"/demo/kineto/*
make_set multi4 "$testdata"/small/multi4_rank*.json
make_set devices2 "$testdata"/small/devices2_rank*.json
make_set memory "$testdata"/small/memory_rank*.json
make_set cut "$testdata"/cut/*
"$(dirname "$0")"/evil_traces.sh "$testdata" "$folder/evil"
