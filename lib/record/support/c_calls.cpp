#include "record/support/c_calls.h"

#include <array>

namespace traceloom::record {
namespace {

// It has no destructor: functions of atexit() and destructors of thread-local objects may fail,
// too.
thread_local std::array<char, 1024> last_error{};

}  // namespace

void copy_text(std::string_view from, char* to, std::size_t room) {
  std::size_t count = std::min(from.size(), room - 1);
  while (count < from.size() && count > 0 && (from[count] & 0xC0) == 0x80) --count;
  std::copy_n(from.data(), count, to);
  to[count] = '\0';
}

}  // namespace traceloom::record

using namespace traceloom::record;

void traceloom_set_last_error(const char* text) {
  copy_text(text, last_error.data(), last_error.size());
}

const char* traceloom_last_error(void) {
  return last_error.data();
}

const char* traceloom_version(void) {
  return TRACELOOM_VERSION;
}
