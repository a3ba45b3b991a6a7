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
    cmake_path(RELATIVE_PATH document BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
    add_document_test(docs.commands.${name} ${document})
    if("${commands}" MATCHES "trace-record")
      set_tests_properties(docs.commands.${name} PROPERTIES RUN_SERIAL ON)
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${document})
  endif()
endforeach()
add_document_test(docs.commands.can_fail ${docs_tests}/wrong.md)
set_tests_properties(docs.commands.can_fail PROPERTIES PASS_REGULAR_EXPRESSION "It prints:\n[^\n]*\ntrace-merge 0")
