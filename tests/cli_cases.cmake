# command_names(OUT): the commands, by the names of their files. The test commands.list compares them with what trace-stats has.
function(command_names out)
  file(GLOB names CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/trace_stats/command_*.cpp)
  list(TRANSFORM names REPLACE ".*/command_(.*)\\.cpp" "\\1")
  list(TRANSFORM names REPLACE "_" "-")
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# add_cli_cases(<prefix> <folder>): each subfolder with a file `cmd` becomes the test <prefix>.<subfolder>.
# run_cli_case.cmake describes the content of such a folder.
#
# All cases run in the release build. With a sanitizer, where they take ten times as long, `./dev test` runs those that
# cases_with_sanitizer matches, and the others have the label `nightly` (`./dev nightly` runs all). It matches by name:
# a case of a tool and one word (stats-gpu, merge-sort) or a command, so that each command has one; and a case with a word that
# stands for damaged or odd input.
string(JOIN "|" words bad broken closed cut damaged empty full losses lost missing never none outlying recover safe
       signal unclosed)
command_names(commands)
list(JOIN commands "|" commands)
set(cases_with_sanitizer "^(stats|merge|record)-[a-z]+$|^stats-(${commands})$|^(.*-)?(${words})(-.*)?$|not-a-trace|no-trace")

# The longest cases: they start first, so that no core waits for one at the end.
set(long_cases "hostile-names|merged-beside|man-pages|help-limits|merge-other-packing|completion")

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
    if(name MATCHES "${long_cases}")
      set_tests_properties(${prefix}.${name} PROPERTIES COST 50)
    endif()
    if(TRACELOOM_SANITIZE AND NOT name MATCHES "${cases_with_sanitizer}")
      set_tests_properties(${prefix}.${name} PROPERTIES LABELS nightly)
    endif()
    # UPDATE=1 is meant for the cases of the tools; those that test the tests stay as they are.
    if(NOT prefix STREQUAL "cli")
      set_tests_properties(${prefix}.${name} PROPERTIES ENVIRONMENT UPDATE=)
    endif()
  endforeach()
endfunction()
