# The libraries we stand on, all from Debian 12 (scripts/install-deps.sh).
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(simdjson 3 REQUIRED)
find_package(TBB 2021 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(yaml-cpp 0.7 REQUIRED)

# xxHash ships a header and a pkg-config file, no CMake package.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
add_library(xxhash INTERFACE)
target_include_directories(xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})

# RE2 ships a pkg-config file, no CMake package. It matches in linear time and without a deep stack, which
# std::regex does not: a name of 100 kB overflows that one's stack, and (a+)+b never ends.
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(RE2_LIBRARY re2 REQUIRED)
add_library(re2 INTERFACE)
target_include_directories(re2 SYSTEM INTERFACE ${RE2_INCLUDE_DIR})
target_link_libraries(re2 INTERFACE ${RE2_LIBRARY})

# ISA-L inflates 3 times and deflates 4 times as fast as zlib. It exists for few platforms, so zlib is the
# fallback; TRACELOOM_ISAL=OFF builds that fallback on purpose.
option(TRACELOOM_ISAL "Use ISA-L for gzip where it is installed" ON)
find_path(ISAL_INCLUDE_DIR isa-l.h)
find_library(ISAL_LIBRARY isal)
add_library(isal INTERFACE)
if(TRACELOOM_ISAL AND ISAL_INCLUDE_DIR AND ISAL_LIBRARY)
  set(TRACELOOM_HAVE_ISAL TRUE)
  target_include_directories(isal SYSTEM INTERFACE ${ISAL_INCLUDE_DIR})
  target_link_libraries(isal INTERFACE ${ISAL_LIBRARY})
  target_compile_definitions(isal INTERFACE TRACELOOM_HAVE_ISAL=1)
endif()
