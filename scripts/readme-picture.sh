#!/usr/bin/env bash
# Makes the picture of README.md: the page that `trace-stats report` writes about testdata/straggler, as Chromium shows it.
# Next to it is the digest of what the picture shows, by which --check finds that the page has changed since.
#
#   scripts/install-deps.sh browser
#   PATH=<bin folder>:$PATH scripts/readme-picture.sh            # docs/report.png, docs/report.png.sha256
#   PATH=<bin folder>:$PATH scripts/readme-picture.sh --check [DIGEST]    # needs no browser
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
picture=docs/report.png

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trace-stats report testdata/straggler -o "$scratch/report.html" 2> /dev/null

# The head has the style, and the hashes of the scripts that draw; the sections after the first one are not in the picture.
digest=$(sed '/<section id="time"/,$d' "$scratch/report.html" | sha256sum | cut -d' ' -f1)
if [[ ${1:-} = --check ]]; then
  [[ $(cat "${2:-$picture.sha256}") = "$digest" ]] && exit
  echo "$picture is older than the page that it shows: run PATH=<bin folder>:\$PATH scripts/readme-picture.sh, and look at it" >&2
  exit 1
fi
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --hide-scrollbars \
  --user-data-dir="$scratch/profile" --window-size=1100,820 --screenshot="$scratch/report.png" \
  "file://$scratch/report.html" 2> /dev/null
mv "$scratch/report.png" "$picture"
echo "$digest" > "$picture.sha256"
