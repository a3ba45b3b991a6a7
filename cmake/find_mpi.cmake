# Finds the MPI of the library for --mpi. Only that library needs one, so by default it is left out where there is none.
# Each configuration looks again: an MPI may have been installed since the last one.
set(TRACELOOM_MPI AUTO CACHE STRING "Build the library for --mpi: AUTO (where there is an MPI), ON, OFF")
set_property(CACHE TRACELOOM_MPI PROPERTY STRINGS AUTO ON OFF)
set(MPI_CXX_SKIP_MPICXX ON)
if(TRACELOOM_MPI STREQUAL "AUTO")
  find_package(MPI COMPONENTS CXX)
elseif(TRACELOOM_MPI)
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()
