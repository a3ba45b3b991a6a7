# Steps of check_package.cmake and check_debian.cmake.

# run(COMMAND...): its output is in `output`, too.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Lets pkg-config and the dynamic linker find the libraries below a prefix, and sets `flags` for programs that use them.
function(use_library_in prefix)
  file(GLOB library ${prefix}/lib*/libtraceloom.so ${prefix}/lib/*/libtraceloom.so)
  cmake_path(GET library PARENT_PATH library_folder)
  set(ENV{PKG_CONFIG_PATH} ${library_folder}/pkgconfig)
  set(ENV{LD_LIBRARY_PATH} ${library_folder})
  # A library with a sanitizer needs programs with it, of the same compiler.
  if(SANITIZE)
    set(ENV{CXX} ${COMPILER})
    if(COMPILER MATCHES "clang")
      string(REGEX REPLACE "clang\\+\\+([^/]*)$" "clang\\1" compiler_of_c "${COMPILER}")
      set(ENV{CC} ${compiler_of_c})
    endif()
    set(flags -fsanitize=${SANITIZE} PARENT_SCOPE)
  else()
    set(flags "" PARENT_SCOPE)
  endif()
endfunction()
