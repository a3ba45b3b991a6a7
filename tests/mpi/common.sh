# What the checks of this folder share. Each fails with what differs.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_dir=$(cd "$here/../.." && pwd)
. "$source_dir/tests/support/tries.sh"
tools=$TRACELOOM_TOOLS
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# as_processes says why.
export OMPI_MCA_pml=ob1 HWLOC_PLUGINS_PATH=/none
export OMPI_MCA_orte_tmpdir_base=$scratch
failed=0

fail() {
  echo "$*" >&2
  failed=1
}

# by PROCESSES TOOL ARGUMENT...: what the processes print, without the words of mpirun.
by() {
  local processes=$1 tool=$2
  shift 2
  TRACELOOM_PROCESSES=$processes timeout 120 "$by_processes/$tool" "$@"
}

by_processes=$scratch/by_processes
mkdir "$by_processes"
ln -s "$here/as_processes" "$by_processes/trace-stats"
ln -s "$here/as_processes" "$by_processes/trace-merge"
