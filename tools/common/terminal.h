// What the terminal is like: whether there is one, how wide it is, whether colour is wanted.
//
//   TextStyle style{.colour = wants_colour(Stream::out), .width = terminal_width(Stream::out)};
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom {

enum class Stream : std::uint8_t { out, err };

bool is_terminal(Stream stream);

// Columns; 0 when the stream is no terminal, so that text in files and pipes is never shortened.
// COLUMNS wins over what the terminal says, 80 stands in where neither tells.
int terminal_width(Stream stream);

// On a terminal only, not with a NO_COLOR that is not empty, not with TERM=dumb.
bool wants_colour(Stream stream);

// The decisions behind the two above; the variables as getenv() gives them. `reported` is the width
// that the terminal tells, 0 when it does not.
int choose_width(bool terminal, const char* columns, int reported);
bool choose_colour(bool terminal, const char* no_color, const char* term);

// Colours a text, or leaves it as it is where no colour is wanted.
class Paint {
 public:
  explicit Paint(bool colour = false) : colour_(colour) {}

  std::string bold(std::string_view text) const { return wrap("\x1b[1m", text); }
  std::string dim(std::string_view text) const { return wrap("\x1b[2m", text); }
  std::string error(std::string_view text) const { return wrap("\x1b[1;31m", text); }
  std::string warning(std::string_view text) const { return wrap("\x1b[1;33m", text); }
  std::string option(std::string_view text) const { return wrap("\x1b[36m", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const;

  bool colour_;
};

}  // namespace traceloom
