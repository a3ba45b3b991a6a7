#!/usr/bin/env bash
# Makes anew what programs write into the documents: the outputs of commands, the picture, the tables of problems and of
# commands, and the keys of JSON. Review the difference as if you had written it by hand.
#
#   PATH=<bin folder>:$PATH scripts/update-docs.sh
set -euo pipefail
export LC_ALL=C.UTF-8 TZ=UTC UPDATE=1
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
scripts/picture.sh > "$scratch/picture"
cat "$scratch/picture" > docs/straggler.svg
scripts/repairs.pl > "$scratch/repairs"
cat "$scratch/repairs" > docs/repairs.md
scripts/limits.pl > "$scratch/limits"
cat "$scratch/limits" > docs/commands/bottleneck.md
scripts/command-table.sh > "$scratch/commands"
cat "$scratch/commands" > docs/commands/README.md
scripts/keys.pl docs/commands/*.md
for document in README.md docs/*.md docs/commands/*.md; do
  grep -q '^\$ ' "$document" || continue
  echo "$document"
  tests/docs/run_commands.sh "$document" testdata "$scratch/run"
done
