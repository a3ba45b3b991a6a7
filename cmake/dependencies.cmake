# The libraries we stand on (scripts/install-deps.sh installs them). What Debian 12 has is the oldest that is tried. A
# version is compared here, since packages differ in what they take for compatible: simdjson 3.12 refuses to be a 3.
function(require_package name oldest)
  find_package(${name} REQUIRED)
  if(${name}_VERSION VERSION_LESS oldest)
    message(FATAL_ERROR "${name} ${oldest} or newer is needed; found ${${name}_VERSION} in ${${name}_DIR}")
  endif()
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
# zstd's CMake package is not in all distributions. 1.4 is the oldest with parameters for contexts.
find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
find_library(ZSTD_LIBRARY zstd REQUIRED)
add_library(zstd INTERFACE)
target_include_directories(zstd SYSTEM INTERFACE ${ZSTD_INCLUDE_DIR})
target_link_libraries(zstd INTERFACE ${ZSTD_LIBRARY})
require_package(fmt 9)
require_package(simdjson 3)
require_package(TBB 2021)
require_package(CLI11 2)
require_package(yaml-cpp 0.7)
# Its target has a namespace from 0.8 on.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

# xxHash ships a header and a pkg-config file, no CMake package.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
add_library(xxhash INTERFACE)
target_include_directories(xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})

# Boost.Math is headers alone, and Debian's package of them has no CMake package.
find_path(BOOST_MATH_INCLUDE_DIR boost/math/distributions/students_t.hpp REQUIRED)
add_library(boost_math INTERFACE)
target_include_directories(boost_math SYSTEM INTERFACE ${BOOST_MATH_INCLUDE_DIR})

# Boost.Beast and Asio are headers alone, too: the server of --serve.
find_path(BOOST_BEAST_INCLUDE_DIR boost/beast/http.hpp REQUIRED)
add_library(boost_beast INTERFACE)
target_include_directories(boost_beast SYSTEM INTERFACE ${BOOST_BEAST_INCLUDE_DIR})
target_link_libraries(boost_beast INTERFACE Threads::Threads)

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
