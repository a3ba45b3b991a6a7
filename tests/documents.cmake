# The documents: every command that they show is run and its output compared, what programs make of the code is made again,
# and links, sizes and options are checked. That a wrong document is found is shown with wrong ones.
set(docs_tests ${CMAKE_CURRENT_SOURCE_DIR}/docs)
set(tools_first ${CMAKE_COMMAND} -E env "PATH=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}:$ENV{PATH}" LC_ALL=C.UTF-8 TZ=UTC)

function(add_document_test name document)
  add_test(NAME ${name}
           COMMAND ${tools_first} ${docs_tests}/run_commands.sh ${document} ${PROJECT_SOURCE_DIR}/testdata
                   ${PROJECT_BINARY_DIR}/${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
endfunction()

# A document that records a program does so alone: ranks that meet at barriers beside another test may wait for minutes.
file(GLOB documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/commands/*.md)
foreach(document IN LISTS documents ITEMS ${PROJECT_SOURCE_DIR}/README.md)
  file(STRINGS ${document} commands REGEX "^\\$ ")
  if(commands)
    cmake_path(GET document STEM name)
    add_document_test(docs.commands.${name} ${document})
    if("${commands}" MATCHES "trace-record")
      set_tests_properties(docs.commands.${name} PROPERTIES RUN_SERIAL ON)
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${document})
  endif()
endforeach()
add_document_test(docs.commands.can_fail ${docs_tests}/wrong.md)
set_tests_properties(docs.commands.can_fail PROPERTIES PASS_REGULAR_EXPRESSION "It prints:\n[^\n]*\ntrace-merge 0")

# Links, the size of README.md; the options of every command.
add_test(NAME docs.links COMMAND ${docs_tests}/check_documents.pl ${PROJECT_SOURCE_DIR})
add_test(NAME docs.links.can_fail COMMAND ${docs_tests}/check_documents.pl ${docs_tests}/wrong)
set_tests_properties(docs.links.can_fail PROPERTIES PASS_REGULAR_EXPRESSION
  "no such file: docs/none.md\n.*no such heading: #nowhere\n.*lost.md: nothing .*a line of 125 columns.*\n2 documents, 4 wrong")
add_test(NAME docs.options COMMAND ${tools_first} ${docs_tests}/check_options.sh ${PROJECT_SOURCE_DIR}/docs/commands)
add_test(NAME docs.options.can_fail COMMAND ${tools_first} ${docs_tests}/check_options.sh ${docs_tests}/wrong/commands)
set_tests_properties(docs.options.can_fail PROPERTIES PASS_REGULAR_EXPRESSION
  "steps.md: trace-stats steps has --raw, which is not described\n.*steps.md: --cooked is described, and trace-stats steps does not have it")

# The exit codes.
set(check_exit_codes ${tools_first} ${docs_tests}/check_exit_codes.sh)
add_test(NAME docs.exit_codes COMMAND ${check_exit_codes} README.md docs/ci.md docs/commands/README.md
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
add_test(NAME docs.exit_codes.can_fail COMMAND ${check_exit_codes} ${docs_tests}/wrong_exit_codes.md)
set_tests_properties(docs.exit_codes.can_fail PROPERTIES PASS_REGULAR_EXPRESSION
  "wrong_exit_codes.md\n.*\n-2 trouble: [^\n]*\n-3 inconclusive: [^\n]*\n[+]2 trouble\n")
# The keys of the tables in each command's page are those that the columns declare.
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/commands/*.md)
add_test(NAME docs.keys COMMAND ${tools_first} scripts/keys.pl --check ${pages} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
add_test(NAME docs.keys.can_fail COMMAND ${tools_first} scripts/keys.pl --check ${docs_tests}/wrong/commands/keys.md
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(docs.keys.can_fail PROPERTIES PASS_REGULAR_EXPRESSION
  "rows has device, which is not in its row\n.*gpu_number is in the row of rows, which does not have it\n.*the command has no table kind\n.*the table types has no row .*\n2 tables, 4 wrong")

add_test(NAME docs.ci_compare COMMAND ${tools_first} ${docs_tests}/ci_compare_test.sh
         ${PROJECT_SOURCE_DIR}/scripts/ci-compare.sh ${PROJECT_SOURCE_DIR}/testdata)
# What scripts/update-docs.sh makes anew.
add_test(NAME docs.picture COMMAND ${tools_first} bash -o pipefail -c
         "scripts/picture.sh | diff docs/straggler.svg -" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
# The picture of the page needs a browser; its digest does not.
add_test(NAME docs.report_picture COMMAND ${tools_first} scripts/readme-picture.sh --check
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
add_test(NAME docs.report_picture.can_fail COMMAND ${tools_first} scripts/readme-picture.sh --check
         ${docs_tests}/wrong/report.png.sha256 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(docs.report_picture.can_fail PROPERTIES PASS_REGULAR_EXPRESSION
  "docs/report.png is older than the page that it shows: run PATH=<bin folder>:.PATH scripts/readme-picture.sh, and look at it")
add_test(NAME docs.repairs COMMAND bash -o pipefail -c
         "scripts/repairs.pl | diff docs/repairs.md -" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
add_test(NAME docs.limits COMMAND bash -o pipefail -c
         "scripts/limits.pl | diff docs/commands/bottleneck.md -" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
add_test(NAME docs.command_table COMMAND ${tools_first} bash -o pipefail -c
         "scripts/command-table.sh | diff docs/commands/README.md -" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(docs.picture docs.repairs PROPERTIES TIMEOUT 60)
