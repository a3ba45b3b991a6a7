# Installs the build tree into a folder, builds a program in C and one in C++ against it, runs them and lets
# trace-stats read the traces that they wrote.
#
#   cmake -DBUILD=<build tree> -DSOURCE=<tests/package> -DFOLDER=<for all of it>
#         -DSANITIZE=<what the build tree was built with, or nothing> -DCOMPILER=<of C++, there> -DGENERATOR=<that of the build tree>
#         -P check_package.cmake
cmake_minimum_required(VERSION 3.24)

include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

file(REMOVE_RECURSE ${FOLDER})
set(prefix ${FOLDER}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
# Moved, so that nothing can depend on where it was installed to.
file(RENAME ${prefix} ${FOLDER}/elsewhere)
set(prefix ${FOLDER}/elsewhere)
use_library_in(${prefix})
# The programs of docs/recorder.md as they stand there: from the first line of a block to the last.
function(write_program language)
  file(READ ${SOURCE}/../../docs/recorder.md readme)
  string(FIND "${readme}" "```${language}\n" at)
  string(LENGTH "```${language}\n" length)
  math(EXPR at "${at} + ${length}")
  string(SUBSTRING "${readme}" ${at} -1 readme)
  string(FIND "${readme}" "```" at)
  string(SUBSTRING "${readme}" 0 ${at} readme)
  file(WRITE ${FOLDER}/readme.${language} "${readme}")
endfunction()
write_program(cpp)
write_program(c)
# The default generator is make, which a machine that builds with ninja may lack.
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${FOLDER}/consumer -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_C_FLAGS=${flags} -DCMAKE_CXX_FLAGS=${flags} -DREADME_PROGRAM=${FOLDER}/readme)
run(${CMAKE_COMMAND} --build ${FOLDER}/consumer)
run(${FOLDER}/consumer/train_c ${FOLDER}/traces)
run(${FOLDER}/consumer/train_extras_c ${FOLDER}/traces)
run(${FOLDER}/consumer/train_cpp ${FOLDER}/traces)
run(${FOLDER}/consumer/train_old_abi ${FOLDER}/old_traces)
foreach(library IN ITEMS traceloom traceloom_node_merge)
  run(nm -D --defined-only $ENV{LD_LIBRARY_PATH}/lib${library}.so)
  string(REGEX REPLACE "[0-9a-f]+ [A-Z] traceloom_[a-z_]+\n" "" others "${output}")
  if(NOT others STREQUAL "" OR NOT output MATCHES "traceloom_")
    message(FATAL_ERROR "lib${library}.so exports more than the functions for C: ${others}")
  endif()
endforeach()
run(readelf --dynamic $ENV{LD_LIBRARY_PATH}/libtraceloom.so)
if(output MATCHES "libtbb|libre2|libsimdjson")
  message(FATAL_ERROR "libtraceloom.so needs what merges and statistics are made with: ${output}")
endif()
run(${FOLDER}/consumer/train_extras)
run(${FOLDER}/consumer/train_off)
# Twice: the second start finds the traces of the first, says so and trains all the same.
run(${CMAKE_COMMAND} -E chdir ${FOLDER} ${FOLDER}/consumer/readme)
file(GLOB before ${FOLDER}/run7/traces/*)
execute_process(COMMAND ${FOLDER}/consumer/readme WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE result ERROR_VARIABLE told)
file(GLOB after ${FOLDER}/run7/traces/*)
if(NOT result EQUAL 0 OR NOT told MATCHES "^no trace: run7/traces: is not empty: ep[01]-ba[0-9]+-rank0.json exists; "
   OR NOT before OR NOT "${before}" STREQUAL "${after}")
  message(FATAL_ERROR "the program of docs/recorder.md, started again: ${result}, ${told}, ${before}, ${after}")
endif()
run(${prefix}/bin/trace-stats check ${FOLDER}/run7/traces)
run(${CMAKE_COMMAND} -E chdir ${FOLDER} ${FOLDER}/consumer/readme_c)
run(${prefix}/bin/trace-stats check ${FOLDER}/run8/traces)
run(${FOLDER}/consumer/train_merged ${FOLDER}/node)
run(${FOLDER}/consumer/train_merged_c ${FOLDER}/node_c)
run(${FOLDER}/consumer/train_pkg ${FOLDER}/traces)
run(${FOLDER}/consumer/train_merged_pkg ${FOLDER}/node_pkg)
run(${prefix}/bin/trace-stats check ${FOLDER}/traces)
run(${prefix}/bin/trace-stats check ${FOLDER}/node/merged/node0.json ${FOLDER}/node_c/merged/node0.json)
