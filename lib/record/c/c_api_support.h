// The parts that the functions of traceloom.h share: errors without exceptions, structs that grow,
// options and callbacks.
#pragma once

#include "record/c/traceloom.h"
#include "record/recorder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

namespace traceloom::record {

// call_both(): calls a callback of the program, and then something that must happen in any case.
//
//   call_both([&] { on_saved(trace); }, [&] { note(trace); });

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

// guarded(), complete(), give_back(): what the functions of traceloom.h share: errors without
// exceptions, and structs that grow.
//
//   int traceloom_flush(traceloom_session* session) {
//     return guarded([&] { ... });                      // -1, and traceloom_last_error()
//   }
//   const traceloom_cycle cycle = complete(given, traceloom_cycle TRACELOOM_CYCLE_INIT, "...");

inline constexpr int kFailed = -1;

#pragma GCC visibility push(default)  // the merge per node has functions for C of its own
// Sets the text of traceloom_last_error() for this thread.
void set_last_error(const char* text) noexcept;
#pragma GCC visibility pop

// Runs `work` and returns 0, or kFailed if it throws: no exception leaves the library.
template <typename Work>
int guarded(const Work& work) noexcept {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    set_last_error(error.what());
  } catch (...) {
    set_last_error("unknown error");
  }
  return kFailed;
}

// Returns the object that `make` makes, or nullptr if it throws.
template <typename Make>
auto made(const Make& make) noexcept -> decltype(make()) {
  decltype(make()) object = nullptr;
  guarded([&] { object = make(); });
  return object;
}

// Throws for a struct of 0 bytes, which its program forgot to set up.
inline void check_size(std::uint32_t size, const char* type) {
  if (size < sizeof size)
    throw std::invalid_argument(std::string(type) + ".size is " + std::to_string(size) +
                                ": set it to sizeof(" + type + "), or begin with its ..._INIT");
}

// Returns a complete struct. Structs grow at their ends: members that the caller's struct does not
// have yet are as in `defaults`, and all members are if there is no struct.
template <typename Struct>
Struct complete(const Struct* given, const Struct& defaults, const char* type) {
  Struct all = defaults;
  if (given == nullptr) return all;
  check_size(given->size, type);
  std::memcpy(&all, given, std::min<std::size_t>(given->size, sizeof all));
  return all;
}

// Copies a complete struct to the caller's, without writing past the end of that.
template <typename Struct>
void give_back(const Struct& all, Struct& given) {
  std::memcpy(&given, &all, std::min<std::size_t>(given.size, sizeof all));
}

inline std::string text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

// Translates the structs of traceloom.h into those of recorder.h.

#pragma GCC visibility push(default)  // the merge per node uses them, too

// Null pointers mean defaults. The functions throw std::invalid_argument for a struct without a
// size, or with values that no program can mean.
Position position_of(const traceloom_position* given);
traceloom_position position_for_c(const Position& from);
Actions actions_of(std::uint32_t bits);
Options options_of(const traceloom_options* given);
using TellSavedTrace = void(void* arg, const traceloom_saved_trace* trace);
void tell_saved_trace(const SavedTrace& saved, TellSavedTrace* tell, void* arg);

#pragma GCC visibility pop

}  // namespace traceloom::record
