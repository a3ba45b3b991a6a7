#!/usr/bin/env bash
# tidy-file.sh BUILD_DIR FILE: clang-tidy on one file, silent when it is clean. xargs runs several at a
# time; printing each file's findings in one piece keeps them apart. Version 14 cannot read the views of
# g++ 12's library, and takes each <=> for a null pointer.
set -euo pipefail

# The compiler is g++, so clang does not know all of its warning options.
options=(--quiet -p "$1" --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-missing-braces)
if [[ $2 = */tools/* ]]; then
  # Nearly all files there include CLI11, and this check walks through its templates: 30 s of CPU a unit instead of 17.
  options+=(--checks=-performance-unnecessary-value-param)
fi

if ! findings=$(clang-tidy-16 "${options[@]}" "$2" 2> /dev/null); then
  printf '%s: clang-tidy:\n%s\n' "$2" "$findings"
  exit 1
fi
