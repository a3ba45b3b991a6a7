#!/usr/bin/env bash
# tidy-file.sh BUILD_DIR FILE: clang-tidy on one file, silent when it is clean. xargs runs several at a
# time; printing each file's findings in one piece keeps them apart.
set -euo pipefail

# The compiler is g++, so clang does not know all of its warning options.
options=(--quiet -p "$1" --extra-arg=-Wno-unknown-warning-option)
if [[ $2 = */tools/* ]]; then
  # Nearly all files there include CLI11, which makes the analyzer and this check walk through templates:
  # 78 s of CPU a file instead of 11.
  options+=(--checks=-performance-unnecessary-value-param
            --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow)
fi

if ! findings=$(clang-tidy "${options[@]}" "$2" 2> /dev/null); then
  printf '%s: clang-tidy:\n%s\n' "$2" "$findings"
  exit 1
fi
