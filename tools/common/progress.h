// A progress bar for work that takes longer than a second. It is shown only if stderr is a
// terminal.
//
//   Progress progress("merging");
//   progress.show(done_bytes, total_bytes);   // from any thread, costs two atomic stores
//
//   merging  42 %  ████████░░░░░░░░░░░░  1.2 GiB of 2.9 GiB  412.3 MiB/s  4 s left
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace traceloom {

class Progress {
 public:
  explicit Progress(std::string label);
  // Wipes the bar. Destroy it before you print to stderr.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A `total` of 0 is unknown (a pipe); then only bytes and rate are shown.
  void show(std::uint64_t done, std::uint64_t total) noexcept {
    done_.store(done, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
  }

 private:
  void draw_until_stopped(const std::stop_token& stop);

  std::string label_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> total_{0};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread drawer_;
};

// The bytes a second of the last three seconds. The second pass of a merge that compresses its
// output is many times slower than the first, so the mean since the start would promise too little
// time.
class RecentRate {
 public:
  // `ms` is the time since the start. It has to grow from call to call.
  std::uint64_t after(std::uint64_t ms, std::uint64_t done);

 private:
  struct Seen {
    std::uint64_t ms = 0;
    std::uint64_t done = 0;
  };
  std::deque<Seen> seen_{Seen{}};
};

// Returns the line to show, at most `width` columns. If it is too long, the bar gets shorter, and
// then bytes, rate and time are dropped one after the other.
std::string progress_line(std::string_view label, std::uint64_t done, std::uint64_t total,
                          std::uint64_t bytes_per_second, std::size_t width);

}  // namespace traceloom
