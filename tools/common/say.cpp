#include "common/say.h"

#include "base/one_line.h"

#include <cerrno>
#include <cstdio>
#include <unistd.h>

namespace traceloom {
namespace {

bool is_silent = false;

}  // namespace

void say_nothing() {
  is_silent = true;
}

std::string said_line(std::string_view tool, Tone tone, std::string_view path,
                      std::string_view text, const Paint& paint) {
  std::string line = std::string(tool) + ":";
  if (tone == Tone::error) line = paint.error(line);
  if (tone == Tone::warning) line += " " + paint.warning("warning:");
  if (!path.empty()) line += " " + paint.bold(one_line(path)) + ":";
  return line + " " + one_line(text) + "\n";
}

void say(std::string_view tool, Tone tone, std::string_view text) {
  write_to_stderr(said_line(tool, tone, {}, text, Paint(wants_colour(Stream::err))));
}

void write_to_stderr(std::string_view lines) {
  if (is_silent) return;
  std::fflush(stdout);
  while (!lines.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, lines.data(), lines.size());
    if (written > 0)
      lines.remove_prefix(static_cast<std::size_t>(written));
    else if (written == 0 || errno != EINTR)
      return;
  }
}

}  // namespace traceloom
