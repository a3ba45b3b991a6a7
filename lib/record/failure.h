// fail(): how the inline functions for C++ tell what a function of traceloom.h has found wrong.
//
//   if (traceloom_flush(session) != 0) detail::fail();
#pragma once

#include "record/traceloom.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace traceloom::record::detail {

// Throws traceloom_last_error(). Without exceptions the program ends: there Session::open() takes
// the place of the constructor.
template <typename Exception = std::runtime_error>
[[noreturn]] inline void fail() {
#ifdef __cpp_exceptions
  throw Exception(traceloom_last_error());
#else
  std::fprintf(stderr, "%s\n", traceloom_last_error());
  std::abort();
#endif
}

}  // namespace traceloom::record::detail
