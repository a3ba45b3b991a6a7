#!/usr/bin/env bash
# The command's page names every key of its JSON. docs/formats.md has those of the frame.
source "$(dirname "$0")/common.sh"
need_tables
enter_scratch
page=docs/commands/$command.md
for set in composer kineto multi4 devices2 memory cut; do
  trace-stats "$command" inputs/$set/plain --format json 2> /dev/null | sed -e '/"files"/,/^  ],/d' -e '/"problems"/,/^  \]/d'
done | grep -o '"[a-z_0-9]*":' | tr -d '":' | sort -u > keys
[ "$(wc -l < keys)" -gt 4 ] || fail "its JSON has almost no keys: $(tr '\n' ' ' < keys)"
for key in $(grep -v -x -e schema_version -e command -e notes -e problems keys); do
  grep -q -e "\`[^\`]*\b$key\b[^\`]*\`" "$source_dir/$page" || fail "$page has no key '$key' of its JSON"
done
finish
