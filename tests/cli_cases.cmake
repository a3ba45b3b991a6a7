# add_cli_cases(<prefix> <folder>): each subfolder with a file `cmd` becomes the test <prefix>.<subfolder>.
# run_cli_case.cmake describes the content of such a folder.
function(add_cli_cases prefix folder)
  file(GLOB commands CONFIGURE_DEPENDS ${folder}/*/cmd)
  foreach(command IN LISTS commands)
    cmake_path(GET command PARENT_PATH case)
    cmake_path(GET case FILENAME name)
    add_test(NAME ${prefix}.${name}
             COMMAND ${CMAKE_COMMAND} -DCASE=${case} -DSCRATCH=${PROJECT_BINARY_DIR}/cli_cases/${prefix}.${name}
                     -DTOOLS=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
                     -P ${PROJECT_SOURCE_DIR}/tests/run_cli_case.cmake)
    # A case of one second may take a minute under the thread sanitizer. Cases that record whole programs find by time
    # measurements what was slow, so no other test runs at the same time.
    set_tests_properties(${prefix}.${name} PROPERTIES TIMEOUT 600)
    if(name MATCHES "^record-(demo|is-a-trace)")
      set_tests_properties(${prefix}.${name} PROPERTIES RUN_SERIAL ON)
    endif()
    # UPDATE=1 is meant for the cases of the tools; those that test the tests stay as they are.
    if(NOT prefix STREQUAL "cli")
      set_tests_properties(${prefix}.${name} PROPERTIES ENVIRONMENT UPDATE=)
    endif()
  endforeach()
endfunction()
