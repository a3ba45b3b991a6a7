// call_both(): calls a callback of the program, and then something that must happen in any case.
//
//   call_both([&] { on_saved(trace); }, [&] { note(trace); });
#pragma once

namespace traceloom::record {

// If `first` throws, `last` is called as well, and then the exception goes on.
template <typename First, typename Last>
void call_both(const First& first, const Last& last) {
  try {
    first();
  } catch (...) {
    last();
    throw;
  }
  last();
}

}  // namespace traceloom::record
