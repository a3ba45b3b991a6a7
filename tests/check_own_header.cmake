# Holds every source of lib/ to include the header of its name first: then compiling the source shows that the header
# compiles alone, and only headers without a source need a unit of their own (cmake/rooms.cmake).
#
#   cmake -DROOT=<source tree> -P check_own_header.cmake
cmake_minimum_required(VERSION 3.24)

cmake_path(ABSOLUTE_PATH ROOT)
file(GLOB_RECURSE sources RELATIVE ${ROOT}/lib ${ROOT}/lib/*.cpp)
set(wrong 0)
foreach(source IN LISTS sources)
  string(REGEX REPLACE "cpp$" "h" header ${source})
  if(EXISTS ${ROOT}/lib/${header})
    file(STRINGS ${ROOT}/lib/${source} first REGEX "^[ \t]*#[ \t]*include" LIMIT_COUNT 1)
    if(NOT first STREQUAL "#include \"${header}\"")
      message("lib/${source}: the first include is not \"${header}\"")
      math(EXPR wrong "${wrong} + 1")
    endif()
  endif()
endforeach()
if(wrong)
  message(FATAL_ERROR "own header: ${wrong} sources do not begin with their header")
endif()
