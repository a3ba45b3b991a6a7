#!/usr/bin/env bash
# The command lets no byte of a name, a category or a file name through that a terminal, Markdown or HTML would obey, neither
# in its answer nor in its messages. Each must show such a name, escaped, or the test would look at nothing.
source "$(dirname "$0")/common.sh"
enter_scratch

# In these places the command shows no name of its traces.
names_no_trace() {
  case "$command $1" in
    comm\ table | gpu\ table | memcpy\ table | steps\ table | stragglers\ table) ;;
    comm\ md | gpu\ md | memcpy\ md | steps\ md | stragglers\ md) ;;
    what-if\ table | what-if\ md | mesh\ table | mesh\ md | bubbles\ table | bubbles\ md) ;;
    *) return 1 ;;
  esac
}

# Runs the command for traces whose names hold "$1", with an answer of the form $2.
ask() {
  rm -f shown words
  touch shown words
  case $command in
    baseline) trace-stats baseline inputs/evil/*"$1"* -o shown 2> words ;;
    compare) trace-stats compare inputs/evil/*"$1"*rank0* inputs/evil/*"$1"*rank1* --format "$2" -o shown 2> words ;;
    report) trace-stats report inputs/evil/*"$1"* -o shown 2> words ;;
    *) trace-stats "$command" inputs/evil/*"$1"* --format "$2" -o shown 2> words ;;
  esac
}

forms=(table md)
[ "$command" = report ] && forms=(html)
# JSON is for programs, which get names as they are: of a baseline only the messages are looked at.
[ "$command" = baseline ] && forms=(json)

obeyed='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xff'
look_at() {
  if grep -a -q '^INJECTED' "$1"; then fail "$1: a name begins a line of its own"; fi
  if LC_ALL=C grep -aqP "$obeyed" "$1"; then fail "$1: bytes that a terminal obeys: $(LC_ALL=C grep -aP "$obeyed" "$1" | head -n 1 | od -c | head -n 9)"; fi
  if [[ $1 == *md || $1 == *html ]] && grep -q -F '|<b>' "$1"; then fail "$1: markup"; fi
  if grep -q ']0[;:]x' "$1"; then
    names_no_trace "$1" && fail "$1 shows names of traces: drop it from names_no_trace() in tests/commands/hostile_names.sh"
  elif ! names_no_trace "$1"; then
    fail "$1 shows no name of these traces, so nothing is tested: add it to names_no_trace() in tests/commands/hostile_names.sh if it has none"
  fi
}

for form in "${forms[@]}"; do
  for set in multi4 devices2 memory_ composer ep0-ba8; do
    ask $set "$form"
    cat shown >> "$form"
    cat words >> words.all
  done
  [ "$form" = json ] || look_at "$form"
done
mv words.all messages
look_at messages
finish
