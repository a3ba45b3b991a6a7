#!/usr/bin/env bash
# The one file that needs an MPI, built with MPICH as a site would build it, gives the same bytes.
. "$(dirname "$0")/common.sh"

if ! command -v mpicxx.mpich > /dev/null || ! command -v mpirun.mpich > /dev/null; then
  echo 'skipped: MPICH is not installed (libmpich-dev mpich)'
  exit 0
fi
version=$("$tools/trace-stats" --version | awk '{ print $2 }')
mpicxx.mpich -std=c++20 -O2 -shared -fPIC -I "$source_dir/lib" -DTRACELOOM_VERSION="\"$version\"" \
  "$source_dir/tools/mpi/mpi_transport.cpp" -o "$scratch/libtraceloom_mpi.so" || exit 1
export TRACELOOM_MPI_LIBRARY=$scratch/libtraceloom_mpi.so TRACELOOM_MPIRUN=mpirun.mpich
for command in summarize bottleneck steps; do
  "$tools/trace-stats" $command "$source_dir/testdata/demo/composer" > "$scratch/one" 2> /dev/null
  by 3 trace-stats $command "$source_dir/testdata/demo/composer" > "$scratch/many" 2> "$scratch/words"
  cmp "$scratch/one" "$scratch/many" || fail "$command with MPICH: other bytes; $(cat "$scratch/words")"
done

# The launcher of another MPI would start three processes that each write the whole output.
echo old > "$scratch/all.json"
env -u TRACELOOM_MPI_LIBRARY timeout 60 mpirun.mpich -n 3 "$tools/trace-merge" --mpi \
  "$source_dir/testdata/demo/composer" -o "$scratch/all.json" > "$scratch/words" 2>&1
code=$?
words="a launcher started 3 processes, but MPI did not join them; start them with mpirun of the MPI with which"
[ $code -eq 2 ] && [ "$(grep -c "^trace-merge: $words .*libtraceloom_mpi.so was built, or with the --mpi of srun that it needs$" "$scratch/words")" -eq 3 ] &&
  [ "$(cat "$scratch/all.json")" = old ] ||
  fail "three processes of another MPI: exit code $code; $(cat "$scratch/words")"
exit $failed
