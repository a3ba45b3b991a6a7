#include "common/progress.h"

#include "base/units.h"
#include "common/terminal.h"
#include "table/text_width.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <initializer_list>

namespace traceloom {
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
