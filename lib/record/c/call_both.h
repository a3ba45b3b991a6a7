// call_both(): a callback of the program, and what has to happen behind it in any case.
//
//   call_both([&] { on_saved(trace); }, [&] { note(trace); });
#pragma once

namespace traceloom::record {

// Also when `first` throws: that goes on behind `last`.
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
