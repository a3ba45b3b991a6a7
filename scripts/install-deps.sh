#!/usr/bin/env bash
# Installs the Debian 12 packages that a group of tasks needs; silent when all are there.
#
#   scripts/install-deps.sh [build|test|sanitize|browser|package|lint|tidy|bench|mpi|bare]...     (default: build)
set -euo pipefail

build=(g++ cmake ninja-build libcli11-dev libsimdjson-dev zlib1g-dev libzstd-dev libfmt-dev libtbb-dev
       doctest-dev libisal-dev libxxhash-dev libre2-dev libyaml-cpp-dev libboost-math-dev libboost-dev pkgconf)
# cpack asks `file` what is a program, and dpkg-shlibdeps on which packages it depends.
debian=(dpkg-dev file)
# Readers of what the tools generate: manual pages, and completions for each shell. The test of growth needs Python.
test=(groff-base zsh fish python3 "${debian[@]}")
# For the test of the report page; 440 MB, so not a part of `test`.
browser=(chromium chromium-driver python3)
# Both, because a site may have either. The tools are built without them, too.
mpi=(libopenmpi-dev openmpi-bin libmpich-dev mpich iproute2)
lint=(clang-format)
tidy=(clang-tidy-16)
# The compiler and linker of what has sanitizers, their libraries, and what finds the lines of their reports.
sanitize=(clang-16 lld-16 libclang-rt-16-dev llvm-16)
bare=(debootstrap git util-linux)
bench=(python3 time hyperfine pigz isal libbenchmark-dev)

main() {
  local wanted=() missing=() group package
  for group in "${@:-build}"; do
    case $group in
      build) wanted+=("${build[@]}") ;;
      test) wanted+=("${build[@]}" "${test[@]}") ;;
      browser) wanted+=("${build[@]}" "${browser[@]}") ;;
      package) wanted+=("${build[@]}" "${debian[@]}") ;;
      mpi) wanted+=("${build[@]}" "${mpi[@]}") ;;
      bare) wanted+=("${bare[@]}") ;;
      lint) wanted+=("${build[@]}" "${lint[@]}") ;;
      tidy) wanted+=("${tidy[@]}") ;;
      sanitize) wanted+=("${build[@]}" "${sanitize[@]}") ;;
      bench) wanted+=("${build[@]}" "${bench[@]}") ;;
      *) echo "install-deps.sh: unknown group '$group' (build, test, sanitize, browser, package, lint, tidy, bench, mpi, bare)" >&2; exit 2 ;;
    esac
  done

  if ! command -v dpkg-query > /dev/null; then
    echo "install-deps.sh: this is no Debian; going on with what is installed. Needed:" "${wanted[@]}" >&2
    return
  fi
  for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
}

is_installed() {
  # A package of several architectures has one line each.
  dpkg-query --show --showformat='${db:Status-Status}\n' "$1" 2> /dev/null | grep -qx installed
}

# stdout belongs to the task that called us, so all words go to stderr. dpkg prints hundreds of lines, which matter
# only if something fails.
install() {
  local as_root=(env DEBIAN_FRONTEND=noninteractive) log
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
      echo "install-deps.sh: not root and no sudo; as root, run: apt-get install --no-install-recommends $*" >&2
      exit 2
    fi
    as_root=(sudo "${as_root[@]}")
  fi
  echo "Installing $# packages and what they need: $*" >&2
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -qq &&
         "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$@"; } > "$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "install-deps.sh: apt-get failed (above; all of it: $log). Is there a network, and does /etc/apt/sources.list name a mirror?" >&2
    exit 2
  fi
  rm "$log"
}

main "$@"
