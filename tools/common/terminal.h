// The words that tools write to a terminal besides their answer: messages, problems, and a progress
// bar.
#pragma once

#include "base/problems.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace traceloom {

// Finds out whether a stream is a terminal, how wide it is, and whether it gets colours.
//
//   TextStyle style{.colour = wants_colour(Stream::out), .width = terminal_width(Stream::out)};

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

// Prints messages to stderr. All messages of all tools are printed by this.
//
//   say("trace-merge", Tone::warning, "rank3.json: is a directory");
//   // trace-merge: warning: rank3.json: is a directory

enum class Tone : std::uint8_t { note, warning, error };

// Returns the message as one line, with its line feed. `path` and `text` may hold any bytes, such
// as names from traces or of files: they are escaped so that they stay on one line and a terminal
// does not obey them (one_line()). An empty `path` is left out.
std::string said_line(std::string_view tool, Tone tone, std::string_view path,
                      std::string_view text, const Paint& paint);

void say(std::string_view tool, Tone tone, std::string_view text);

// From now on nothing is written to stderr: another process of the team says the same.
void say_nothing();

// Writes lines made by said_line() in one piece, after flushing stdout. If stderr cannot be written
// (closed, a full disk) nothing else changes, since messages are no part of the answer.
void write_to_stderr(std::string_view lines);

// Lines on stderr about the problems of an input that did not stop the work.
//
//   trace-merge: warning: rank3.json: byte 8812: the file is cut inside an event; everything
//       before it was kept
//   trace-stats: rank0.json: 52 × end event (E) without a begin event (B); dropped (first at byte
//   120)

enum class Verbosity : std::uint8_t {
  normal,   // notice and loss
  verbose,  // info too
};

// Returns one line for each kind of problem. Only a loss begins with "warning:". A problem whose
// first offset is 0 has no place in the file (a missing rank, for example), so its line names none.
std::string problem_lines(std::string_view tool, std::string_view path,
                          const ProblemCounts& problems, Verbosity verbosity, const Paint& paint);

// Prints these lines to stderr in one piece.
void report_problems(std::string_view tool, std::string_view path, const ProblemCounts& problems,
                     Verbosity verbosity);

// A progress bar for work that takes longer than a second. It is shown only if stderr is a
// terminal.
//
//   Progress progress("merging");
//   progress.show(done_bytes, total_bytes);   // from any thread, costs two atomic stores
//
//   merging  42 %  ████████░░░░░░░░░░░░  1.2 GiB of 2.9 GiB  412.3 MiB/s  4 s left

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
