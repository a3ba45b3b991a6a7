#!/usr/bin/env bash
# Runs README's commands on a machine that has nothing installed: a root made by debootstrap (minbase), a user who clones.
#
#   scripts/bare.sh demo|test [--suite bookworm|trixie] [--as root|user] [--shared|--no-shared]
#
# Without --as both are tried, each in a fresh root: `root` has a bare machine, `user` one where root has run
# scripts/install-deps.sh. --no-shared hides ../shared (reference traces that cannot be distributed) from the tests; by
# default root has none and the user has it, if there is one. What is tested is the last commit. The end says for each run
# how long it took and which packages it has added. Needs root for debootstrap, mount and chroot; nothing outside
# build/bare is changed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

suite=bookworm
task=
accounts=(root user)
shared=default

usage() {
  sed -n '2,/^set /p' "${BASH_SOURCE[0]}" | sed -n 's/^# \{0,1\}//p'
}

main() {
  read_arguments "$@"
  [ "$(id -u)" -eq 0 ] || refuse "making a bare root needs root (debootstrap, mount, chroot)"
  scripts/install-deps.sh bare
  folder=$PWD/build/bare
  mkdir -p "$folder"
  local account failed=0 results=()
  for account in "${accounts[@]}"; do
    if try "$account"; then results+=("passed"); else results+=("FAILED"); failed=1; fi
    results[-1]+=": ./dev $task as $account on $suite, $(shared_words "$account")$(what_it_took)"
  done
  printf 'bare: %s\n' "${results[@]}"
  return $failed
}

read_arguments() {
  while [ $# -gt 0 ]; do
    case $1 in
      demo | test) task=$1 ;;
      --suite) suite=${2:?--suite needs a name}; shift ;;
      --as) accounts=("${2:?--as needs root or user}"); shift ;;
      --shared | --no-shared) shared=$1 ;;
      -h | --help) usage; exit 0 ;;
      *) refuse "unknown argument '$1' (demo or test, --suite NAME, --as root|user, --shared, --no-shared)" ;;
    esac
    shift
  done
  [ -n "$task" ] || refuse "say demo or test"
  [[ ${accounts[0]} =~ ^(root|user)$ ]] || refuse "--as takes root or user, not '${accounts[0]}'"
}

refuse() {
  echo "bare: $1" >&2
  exit 2
}

# --- one run --------------------------------------------------------------------------------------

try() {
  local account=$1 home=/root
  [ "$account" = root ] || home=/home/user
  printf '\n== ./dev %s as %s, %s, on a bare %s ==\n' "$task" "$account" "$(shared_words "$account")" "$suite"
  make_root || return 1
  enter root "useradd --create-home user" || return 1
  list_packages > "$folder/before"
  # A clone needs these, as README says.
  enter root "apt-get update -qq && apt-get install -y -qq git ca-certificates" > "$folder/git.log" 2>&1 || return 1
  git clone --quiet --bare . "$root$home/source.git"
  chown -R --reference="$root$home" "$root$home/source.git"
  enter "$account" "git clone --quiet source.git traceloom" || return 1
  if has_shared "$account"; then
    mkdir "$root$home/shared"
    shared_target=$root$home/shared
  fi
  if [ "$account" = user ]; then
    enter root "$home/traceloom/scripts/install-deps.sh $([ "$task" = test ] && echo test sanitize)" || return 1
  fi
  local begin=$SECONDS result=0
  enter "$account" "cd traceloom && ./dev $task" || result=$?
  seconds=$((SECONDS - begin))
  list_packages > "$folder/after"
  return $result
}

# The reference traces, read-only, where a neighbour of the clone would find them.
shared_target=
has_shared() {
  [ -d ../shared ] || return 1
  case $shared in
    --shared) ;;
    --no-shared) return 1 ;;
    *) [ "$1" = user ] ;;
  esac
}

shared_words() {
  if has_shared "$1"; then echo "with ../shared"; else echo "without ../shared"; fi
}

seconds=0
what_it_took() {
  [ -s "$folder/after" ] || return 0
  printf ', %d s, %d packages added' "$seconds" "$(comm -13 "$folder/before" "$folder/after" | wc -l)"
}

# --- the root -------------------------------------------------------------------------------------

# A fresh root, from an archive that debootstrap fills once a suite.
make_root() {
  root=$folder/root
  shared_target=
  rm -f "$folder/before" "$folder/after"
  [ -f "$folder/$suite.tar" ] || bootstrap
  rm -rf --one-file-system "$root"
  mkdir "$root"
  tar -C "$root" -xpf "$folder/$suite.tar"
}

bootstrap() {
  local fresh=$folder/$suite.new
  rm -rf --one-file-system "$fresh"
  debootstrap --variant=minbase "$suite" "$fresh" "$(mirror)" > "$folder/debootstrap.log" 2>&1 ||
    { tail -n 5 "$folder/debootstrap.log" >&2; return 1; }
  copy_network_settings "$fresh"
  rm -rf "$fresh"/var/cache/apt/archives/*.deb
  tar -C "$fresh" -cpf "$folder/$suite.tar.new" .
  mv "$folder/$suite.tar.new" "$folder/$suite.tar"
  rm -rf --one-file-system "$fresh"
}

# The mirror that this machine uses itself.
mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2> /dev/null |
    grep -v security | head -n 1
}

# Copies how this machine reaches the network: names, proxies, certificates.
copy_network_settings() {
  local file
  cp -L /etc/resolv.conf "$1/etc/resolv.conf" 2> /dev/null || true
  cp -L /etc/hosts "$1/etc/hosts"
  for file in $(grep -ls -i -e proxy -e https -e retries /etc/apt/apt.conf.d/* /etc/apt/apt.conf || true); do
    cp "$file" "$1/etc/apt/apt.conf.d/"
  done
}

list_packages() {
  chroot "$root" dpkg-query --show --showformat='${Package}\n' | sort
}

# enter ACCOUNT COMMAND: a login of its own, with processes that end with it, and nothing of this environment.
enter() {
  local home=/root
  [ "$1" = root ] || home=/home/user
  ROOT=$root SHARED=$shared_target FROM=$PWD/../shared unshare --mount --pid --fork --kill-child bash -c '
    set -e
    mount --bind "$ROOT" "$ROOT"
    mount -t proc proc "$ROOT/proc"
    mount -t sysfs -o ro sysfs "$ROOT/sys"
    mount --rbind /dev "$ROOT/dev"
    mount -t tmpfs tmpfs "$ROOT/dev/shm"
    [ -z "$SHARED" ] || mount --bind -o ro "$FROM" "$SHARED"
    exec chroot "$ROOT" su - "$0" -s /bin/bash -c "$1"' "$1" "cd $home && $2" < /dev/null
}

main "$@"
