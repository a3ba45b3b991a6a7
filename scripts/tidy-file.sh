#!/usr/bin/env bash
# tidy-file.sh BUILD_DIR FILE: clang-tidy on one file, silent when it is clean. xargs runs several at a
# time; printing each file's findings in one piece keeps them apart.
set -euo pipefail

if ! findings=$(clang-tidy --quiet -p "$1" "$2" 2> /dev/null); then
  printf '%s: clang-tidy:\n%s\n' "$2" "$findings"
  exit 1
fi
