#include "common/terminal.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace traceloom {
namespace {

constexpr int kUsualWidth = 80;

bool has_no_terminal = false;

int descriptor(Stream stream) {
  return stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO;
}

int positive_number(const char* text) {
  if (text == nullptr) return 0;
  int number = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, number);
  return error == std::errc() && rest == end && number > 0 ? number : 0;
}

}  // namespace

bool is_terminal(Stream stream) {
  return !has_no_terminal && isatty(descriptor(stream)) == 1;
}

void assume_no_terminal() {
  has_no_terminal = true;
}

int terminal_width(Stream stream) {
  winsize size{};
  const bool is_reported = ioctl(descriptor(stream), TIOCGWINSZ, &size) == 0;
  return choose_width(is_terminal(stream), std::getenv("COLUMNS"), is_reported ? size.ws_col : 0);
}

bool wants_colour(Stream stream) {
  return choose_colour(is_terminal(stream), std::getenv("NO_COLOR"), std::getenv("TERM"));
}

int choose_width(bool terminal, const char* columns, int reported) {
  if (!terminal) return 0;
  if (const int wanted = positive_number(columns); wanted > 0) return wanted;
  return reported > 0 ? reported : kUsualWidth;
}

bool choose_colour(bool terminal, const char* no_color, const char* term) {
  if (!terminal || (no_color != nullptr && *no_color != '\0')) return false;
  return term == nullptr || std::string_view(term) != "dumb";
}

std::string Paint::wrap(std::string_view code, std::string_view text) const {
  if (!colour_ || text.empty()) return std::string(text);
  return std::string(code).append(text).append("\x1b[0m");
}

}  // namespace traceloom
