#!/usr/bin/env bash
# Makes the picture of README.md: the page that `trace-stats report` writes about testdata/straggler, as Chromium shows it.
#
#   scripts/install-deps.sh browser
#   PATH=<bin folder>:$PATH scripts/readme-picture.sh docs/report.png
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trace-stats report testdata/straggler -o "$scratch/report.html"
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --hide-scrollbars \
  --user-data-dir="$scratch/profile" --window-size=1100,820 --screenshot="$scratch/report.png" \
  "file://$scratch/report.html" 2> /dev/null
mv "$scratch/report.png" "$1"
