# Every case of the reference on the format has a test that is named for it:
#
#   cmake -DROOT=<source tree> -DLAST=58 -P check_format_cases.cmake
#   format case 7 has no test
cmake_minimum_required(VERSION 3.24)

file(GLOB_RECURSE files ${ROOT}/tests/*_test.cpp)
set(found "")
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(REGEX MATCHALL "TEST_CASE\\([ \n]*\"format case [0-9]+:" names "${text}")
  list(TRANSFORM names REPLACE "^.*format case ([0-9]+):$" "\\1")
  list(APPEND found ${names})
endforeach()
set(missing 0)
foreach(case RANGE 1 ${LAST})
  if(NOT case IN_LIST found)
    message("format case ${case} has no test")
    math(EXPR missing "${missing} + 1")
  endif()
endforeach()
if(missing)
  message(FATAL_ERROR "format_cases: ${missing} of ${LAST} cases have no test")
endif()
