# What the tests of every command share. Each is run for one command:
#
#   PATH=<bin folder>:$PATH CHECK.sh COMMAND SOURCE_DIR INPUTS SCRATCH
#
# INPUTS is the folder that inputs.sh has made. Each fails with a line for what is wrong, which names the command.
set -uo pipefail
export LC_ALL=C.UTF-8 TZ=UTC
unset COLUMNS
command=$1
source_dir=$2
inputs=$3
scratch=$4
failed=0
. "$source_dir/tests/support/tries.sh"

fail() {
  echo "trace-stats $command: $*"
  failed=1
}

enter_scratch() {
  rm -rf "$scratch"
  mkdir -p "$scratch"
  cd "$scratch" || exit 2
  ln -s "$inputs" inputs
}

finish() {
  if [ $failed = 0 ]; then rm -rf "$scratch"; fi
  exit $failed
}

# Succeeds if the command has this argument or option.
has() {
  trace-stats --list-commands | sed -n "s/^$command / /p" | grep -q -e " $1\( \|\$\)"
}

# Prints the command line of each run: the command alone, and the variants that are listed for it.
runs() {
  echo "$command"
  grep "^$command " "$source_dir/tests/commands/variants"
}

# Most commands print tables about traces. What fits only these has to be said for the others.
need_tables() {
  has TRACE && has --format && return
  fail "it prints no tables of TRACE..., so $(basename "$0" .sh) cannot take it: name it in tests/commands/exceptions"
  finish
}
