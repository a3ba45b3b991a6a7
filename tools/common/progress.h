// A progress bar on stderr for work that takes longer than a second; silent where that is no
// terminal.
//
//   Progress progress("merging", total_bytes);
//   progress.add(chunk.size());   // from any thread, costs one atomic addition
//
//   merging  42 %  ████████░░░░░░░░░░░░  1.2 GiB of 2.9 GiB  412.3 MiB/s  4 s left
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace traceloom {

class Progress {
 public:
  // `total_bytes` 0 says that nobody knows (a pipe): bytes and rate are shown.
  Progress(std::string label, std::uint64_t total_bytes);
  // Wipes the bar. Let it go before printing to stderr.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void add(std::uint64_t bytes) noexcept { done_.fetch_add(bytes, std::memory_order_relaxed); }

 private:
  void draw_until_stopped(const std::stop_token& stop);

  std::string label_;
  std::uint64_t total_;
  std::atomic<std::uint64_t> done_{0};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread drawer_;
};

// The line as it stands after `elapsed_ms` milliseconds, at most `width` code points.
std::string progress_line(std::string_view label, std::uint64_t done, std::uint64_t total,
                          std::uint64_t elapsed_ms, std::size_t width);

}  // namespace traceloom
