#include "common/terminal.h"

#include "base/ascii.h"
#include "base/units.h"
#include "table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
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
  return std::max(whole_number<int>(text).value_or(0), 0);
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

namespace {

std::string where_and_what(std::uint64_t count, std::uint64_t offset, std::string_view sentence) {
  if (count == 1)
    return offset == 0 ? std::string(sentence) : fmt::format("byte {}: {}", offset, sentence);
  const std::string counted = fmt::format("{} × {}", format_count(count), sentence);
  return offset == 0 ? counted : fmt::format("{} (first at byte {})", counted, offset);
}

std::string more_words(std::string_view explanation) {
  return explanation.empty() ? "" : fmt::format(": {}", explanation);
}

}  // namespace

std::string problem_lines(std::string_view tool, std::string_view path,
                          const ProblemCounts& problems, Verbosity verbosity, const Paint& paint) {
  std::string lines;
  for (const Problem problem : problems.kinds()) {
    const ProblemKind& kind = describe(problem);
    if (kind.severity == Severity::info && verbosity == Verbosity::normal) continue;
    lines += said_line(
        tool, kind.severity == Severity::loss ? Tone::warning : Tone::note, path,
        where_and_what(problems.count(problem), problems.first_offset(problem), kind.sentence) +
            more_words(problems.explanation(problem)),
        paint);
  }
  return lines;
}

void report_problems(std::string_view tool, std::string_view path, const ProblemCounts& problems,
                     Verbosity verbosity) {
  const Paint paint(wants_colour(Stream::err));
  const std::string lines = problem_lines(tool, path, problems, verbosity, paint);
  if (!lines.empty()) write_to_stderr(lines);
}

namespace {

using namespace std::chrono_literals;

constexpr auto kBeforeFirst = 1s;  // a bar that flashes by is useless
constexpr auto kBetween = 100ms;
constexpr std::uint64_t kRecentMs = 3000;
constexpr std::array<std::size_t, 4> kBarWidths{20, 10, 5, 0};  // the longest that fits is used

std::string bar(double share, std::size_t width) {
  const auto full = static_cast<std::size_t>(share * static_cast<double>(width));
  std::string text;
  for (std::size_t i = 0; i < width; ++i) text += i < full ? "█" : "░";
  return text;
}

std::string time_left(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s left", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s left", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min left", whole / 3600, whole / 60 % 60);
}

// Joins the parts that are not empty with two spaces.
std::string joined(std::initializer_list<std::string_view> parts) {
  std::string line;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    if (!line.empty()) line += "  ";
    line += part;
  }
  return line;
}

}  // namespace

std::uint64_t RecentRate::after(std::uint64_t ms, std::uint64_t done) {
  seen_.push_back({ms, done});
  while (seen_.size() > 2 && seen_[1].ms + kRecentMs <= ms) seen_.pop_front();
  const Seen& first = seen_.front();
  return (done - std::min(first.done, done)) * 1000 / std::max<std::uint64_t>(ms - first.ms, 1);
}

std::string progress_line(std::string_view label, std::uint64_t done, std::uint64_t total,
                          std::uint64_t bytes_per_second, std::size_t width) {
  const std::string rate_text = format_bytes(bytes_per_second) + "/s";
  if (total == 0)
    return shorten_middle(fmt::format("{}  {}  {}", label, format_bytes(done), rate_text), width);
  const std::uint64_t shown = std::min(done, total);  // a file may grow while it is read
  const double share = static_cast<double>(shown) / static_cast<double>(total);
  const std::string percent = fmt::format("{} {:3.0f} %", label, share * 100);
  const std::string left =
      bytes_per_second > 0
          ? time_left(static_cast<double>(total - shown) / static_cast<double>(bytes_per_second))
          : std::string{};
  const std::string bytes = fmt::format("{} of {}", format_bytes(shown), format_bytes(total));
  for (const std::size_t bar_width : kBarWidths) {
    std::string line = joined({percent, bar(share, bar_width), bytes, rate_text, left});
    if (text_width(line) <= width) return line;
  }
  // If the line is too long, the parts that follow from the others are dropped first.
  for (const std::string& line :
       {joined({percent, rate_text, left}), joined({percent, left}), percent})
    if (text_width(line) <= width) return line;
  return shorten_middle(percent, width);
}

Progress::Progress(std::string label) : label_(std::move(label)) {
  if (!is_terminal(Stream::err)) return;
  drawer_ = std::jthread([this](const std::stop_token& stop) { draw_until_stopped(stop); });
}

Progress::~Progress() {
  if (!drawer_.joinable()) return;
  drawer_.request_stop();
  drawer_.join();
}

void Progress::draw_until_stopped(const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  const auto stopped_within = [&](std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, time, [] { return false; });
    return stop.stop_requested();
  };
  RecentRate rate;
  if (stopped_within(kBeforeFirst)) return;
  do {
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - start);
    const auto width = static_cast<std::size_t>(std::max(terminal_width(Stream::err) - 1, 1));
    const std::uint64_t done = done_;
    const std::string line = progress_line(
        label_, done, total_, rate.after(static_cast<std::uint64_t>(elapsed.count()), done), width);
    std::fputs(("\r" + line + "\x1b[K").c_str(), stderr);
  } while (!stopped_within(kBetween));
  std::fputs("\r\x1b[K", stderr);
}

}  // namespace traceloom
