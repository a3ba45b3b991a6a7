// A progress bar on stderr for work that takes longer than a second; silent where that is no
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
  // Wipes the bar. Let it go before printing to stderr.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `total` 0 says that nobody knows (a pipe): bytes and rate are shown.
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

// Bytes a second in the last three: the second pass of a merge that packs its output is many times
// slower than the first, so that what all took so far would tell too little time left.
class RecentRate {
 public:
  // `ms` since the begin, more each time.
  std::uint64_t after(std::uint64_t ms, std::uint64_t done);

 private:
  struct Seen {
    std::uint64_t ms = 0;
    std::uint64_t done = 0;
  };
  std::deque<Seen> seen_{Seen{}};
};

// The line at such a rate, at most `width` columns: where all does not fit, the bar gets shorter,
// then bytes, rate and time go, one after the other.
std::string progress_line(std::string_view label, std::uint64_t done, std::uint64_t total,
                          std::uint64_t bytes_per_second, std::size_t width);

}  // namespace traceloom
