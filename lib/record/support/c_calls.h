// The manners of the functions of traceloom.h: errors without exceptions, and structs that grow.
#pragma once

#include "record/traceloom.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

// Sets the text of traceloom_last_error() for this thread. The merge per node calls it, too.
extern "C" TRACELOOM_API void traceloom_set_last_error(const char* text);

namespace traceloom::record {

// guarded(), with(), made(), complete(), give_back():
//
//   int traceloom_flush(traceloom_session* session) {
//     return guarded([&] { ... });                      // -1, and traceloom_last_error()
//   }
//   const traceloom_cycle cycle = complete(given, traceloom_cycle TRACELOOM_CYCLE_INIT, "...");

inline constexpr int kFailed = -1;

// Copies as much as there is room for, without half a character at its end.
void copy_text(std::string_view from, char* to, std::size_t room);

// Runs `work` and returns 0, or kFailed if it throws: no exception leaves the library, but the end
// of a thread that is cancelled passes.
template <typename Work>
int guarded(const Work& work) {
  try {
    work();
    return 0;
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& error) {
    traceloom_set_last_error(error.what());
  } catch (...) {
    traceloom_set_last_error("unknown error");
  }
  return kFailed;
}

// Does the same with an object that the program has given, and nothing for NULL.
template <typename Object, typename Work>
int with(Object* object, const Work& work) {
  return guarded([&] {
    if (object != nullptr) work(*object);
  });
}

// Returns the object that `make` makes, or nullptr if it throws.
template <typename Make>
auto made(const Make& make) -> decltype(make()) {
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

// The structs that several rooms take.
inline traceloom_options complete(const traceloom_options* given) {
  return complete(given, traceloom_options TRACELOOM_OPTIONS_INIT, "traceloom_options");
}
inline traceloom_position complete(const traceloom_position* given) {
  return complete(given, traceloom_position TRACELOOM_POSITION_INIT, "traceloom_position");
}

// Copies a complete struct to the caller's, without writing past the end of that.
template <typename Struct>
void give_back(const Struct& all, Struct& given) {
  std::memcpy(&given, &all, std::min<std::size_t>(given.size, sizeof all));
}

inline std::string text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

}  // namespace traceloom::record
