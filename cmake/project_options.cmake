# trace_options: the language standard, warnings and sanitizers of our own targets only.
add_library(trace_options INTERFACE)
target_compile_features(trace_options INTERFACE cxx_std_20)
set(CMAKE_CXX_EXTENSIONS OFF)

# One build of each source serves the tools and the shared libraries (recorder_package.cmake). With names hidden
# -fPIC costs the tools nothing.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

# Another compiler may have warnings that g++ 12 lacks; they must not stop users who only want to build.
set(knows_all_warnings OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set(knows_all_warnings ON)
endif()
option(TRACELOOM_WERROR "Take warnings for errors" ${knows_all_warnings})
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(trace_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
    -Woverloaded-virtual -Wimplicit-fallthrough
    $<$<BOOL:${TRACELOOM_WERROR}>:-Werror>
    # g++ 12 sees overlaps in std::string operator+ that are none (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    # clang wants braces around a base that is initialised in place.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-braces>)
endif()

set(TRACELOOM_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them (presets asan and tsan set it)")
if(TRACELOOM_SANITIZE)
  target_compile_options(trace_options INTERFACE
    -fsanitize=${TRACELOOM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    # These two check every access and double the time to compile (10.4 s of a file, 4.7 without them). A null
    # pointer faults anyway, with the sanitizer's report.
    -fno-sanitize=null,alignment
    # The checks of these two are in clang's runtime of C++, which a program in C that links the recorder lacks.
    $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=vptr,function>
    # -O1 takes twice as long to compile, and -g1 leaves the lines in a report. Rooms that say TRACELOOM_OPTIMIZED have
    # long tests, which save what -O1 costs.
    -g1 $<IF:$<BOOL:$<TARGET_PROPERTY:TRACELOOM_OPTIMIZED>>,-O1,-O0>
    # With a sanitizer, g++ 12 wrongly reports parts of the standard library as uninitialized (GCC bug 105562); the
    # other builds search for uninitialized variables.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(TRACELOOM_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # What uses the stack of a function that has returned, clang finds by copies of all stacks, which take more than half
    # of the tests' time: a merge by a team 62 s of processor time, 28 without them. g++ does not look for it.
    target_compile_options(trace_options INTERFACE -fsanitize-address-use-after-return=never)
  endif()
  target_compile_definitions(trace_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(trace_options INTERFACE -fsanitize=${TRACELOOM_SANITIZE})
  # It links a test program in 0.6 s of processor time, which takes ld 2.7.
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld TRACELOOM_HAS_LLD)
  if(TRACELOOM_HAS_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_link_options(trace_options INTERFACE -fuse-ld=lld)
  endif()
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
