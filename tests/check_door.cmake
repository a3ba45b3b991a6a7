# Holds a header that other folders include to a number of own headers that it brings along, so that a small door
# does not lead into a large hall:
#
#   cmake -DROOT=<source tree> -DHEADER=merge/merger.h -DMOST=12 -P check_door.cmake
#   merge/merger.h brings 13 headers, more than 12: base/problems.h clock/alignment.h ...
#
# Counts what HEADER includes, and what these include, as far as it is found below lib/; not HEADER itself.
cmake_minimum_required(VERSION 3.24)

cmake_path(ABSOLUTE_PATH ROOT)
if(NOT EXISTS ${ROOT}/lib/${HEADER})
  message(FATAL_ERROR "door: there is no lib/${HEADER}")
endif()
set(brought "")
set(open ${HEADER})
while(open)
  list(POP_FRONT open file)
  file(STRINGS ${ROOT}/lib/${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*[\"<]")
  foreach(line IN LISTS includes)
    string(REGEX MATCH "[\"<]([^\">]+)" unused "${line}")
    set(included ${CMAKE_MATCH_1})
    if(EXISTS ${ROOT}/lib/${included} AND NOT included STREQUAL HEADER AND NOT included IN_LIST brought)
      list(APPEND brought ${included})
      list(APPEND open ${included})
    endif()
  endforeach()
endwhile()
list(LENGTH brought count)
list(SORT brought)
list(JOIN brought " " names)
if(count GREATER MOST)
  message("${HEADER} brings ${count} headers, more than ${MOST}: ${names}")
  message(FATAL_ERROR "door: include less, or move options and results into headers of their own")
endif()
message("${HEADER} brings ${count} headers: ${names}")
