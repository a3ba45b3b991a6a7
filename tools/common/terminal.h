// Finds out whether a stream is a terminal, how wide it is, and whether it gets colours.
//
//   TextStyle style{.colour = wants_colour(Stream::out), .width = terminal_width(Stream::out)};
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom {

enum class Stream : std::uint8_t { out, err };

bool is_terminal(Stream stream);

// From now on no stream is a terminal. mpirun of Open MPI gives its processes a terminal for
// stdout, wherever its own goes.
void assume_no_terminal();

// Returns the number of columns: COLUMNS if it is set, else what the terminal reports, else 80.
// Returns 0 if the stream is no terminal, so that text in files and pipes is never shortened.
int terminal_width(Stream stream);

// Returns true for a terminal, unless NO_COLOR is set and not empty, or TERM is dumb.
bool wants_colour(Stream stream);

// These two decide for the functions above. They take the environment variables as getenv() returns
// them. `reported` is the width that the terminal reports, 0 if it reports none.
int choose_width(bool terminal, const char* columns, int reported);
bool choose_colour(bool terminal, const char* no_color, const char* term);

// Colours a text, or returns it unchanged if no colour is wanted.
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
