// These tests kill a process about when it makes its trace file: it leaves what a merge takes, or
// nothing.
#include "merge/merger.h"
#include "record/journal/recover.h"
#include "record/recorded.h"
#include "support/child_process.h"

#include <atomic>
#include <chrono>
#include <new>
#include <random>
#include <sys/mman.h>
#include <thread>

using namespace traceloom;
using namespace traceloom::record;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kEvents = 1000;

enum class Files : std::uint8_t { plain, gzip, journal };

// The child reports this to its parent.
struct Progress {
  std::atomic<bool> has_begun{false};
  std::atomic<bool> has_file{false};
  std::atomic<std::uint64_t> events{0};
};

class SharedProgress {
 public:
  SharedProgress()
      : memory_(mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0)) {
    REQUIRE(memory_ != MAP_FAILED);
    new (memory_) Progress;
  }
  ~SharedProgress() { munmap(memory_, sizeof(Progress)); }
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;
  Progress* operator->() const { return static_cast<Progress*>(memory_); }

 private:
  void* memory_;
};

Options options_of(Files files, const std::string& traces, const std::string& journals) {
  Options options;
  options.folder = traces;
  options.flush_ms = 1;
  options.pool_bytes = std::size_t{1} << 20;
  if (files == Files::gzip) options.file_name = [](const Position&) { return "rank0.json.gz"; };
  if (files == Files::journal) options.journal_folder = journals;
  return options;
}

pid_t start_recording(const Options& options, const SharedProgress& progress) {
  return start_child([&] {
    const Counter counter("number", "", {"value"});
    progress->has_begun = true;
    Session session(options);
    for (std::uint64_t i = 1; i <= kEvents; ++i) {
      counter.record(i);
      progress->events = i;
    }
    session.flush();
    progress->has_file = true;
    while (true) pause();
  });
}

// Returns the time from the child's first word until its file has text.
std::int64_t time_to_file(const Options& options) {
  const SharedProgress progress;
  const pid_t child = start_recording(options, progress);
  while (!progress->has_begun) std::this_thread::yield();
  const auto begun = Clock::now();
  while (!progress->has_file) std::this_thread::yield();
  const auto passed = Clock::now() - begun;
  kill_child(child);
  return std::chrono::nanoseconds(passed).count();
}

// Returns how many events a merge of the folder has; 0 if there is nothing to merge.
std::uint64_t merge_folder(const std::string& traces, const std::string& output) {
  if (visible_files_in(traces).empty()) return 0;
  MergeOptions merge;
  merge.inputs = expand_inputs({traces});
  merge.output = output;
  merge.threads = 1;  // there are more children to come
  return merge_traces(merge).events;
}

void kill_early(Files files) {
  constexpr int kKills = 40;
  std::mt19937 random(20);
  std::int64_t longest = 0;
  {
    const TemporaryFolder folder;
    longest = time_to_file(options_of(files, folder.path("traces"), folder.path("journals")));
  }
  for (int i = 0; i < kKills; ++i) {
    CAPTURE(i);
    const TemporaryFolder folder;
    const std::string traces = folder.path("traces");
    std::filesystem::create_directories(traces);
    const SharedProgress progress;
    const pid_t child =
        start_recording(options_of(files, traces, folder.path("journals")), progress);
    while (!progress->has_begun) std::this_thread::yield();
    if (i % 2 == 0) {
      const auto until =
          Clock::now() + std::chrono::nanoseconds(
                             std::uniform_int_distribution<std::int64_t>(0, 2 * longest)(random));
      while (Clock::now() < until) continue;
    } else {
      while (visible_files_in(traces).empty()) continue;  // as soon as there is one
    }
    kill_child(child);
    if (files == Files::journal && std::filesystem::exists(folder.path("journals")))
      for (const RecoveredTrace& trace : recover_journals(folder.path("journals"), {traces}))
        CHECK(trace.problem == "");
    std::uint64_t merged = 0;
    REQUIRE_NOTHROW(merged = merge_folder(traces, folder.path("merged.json")));
    CHECK(merged <= progress->events + 1);
    if (files == Files::journal) CHECK(merged >= progress->events);
  }
}

}  // namespace

TEST_CASE("kill at any early moment: plain" * doctest::test_suite("long")) {
  kill_early(Files::plain);
}

TEST_CASE("kill at any early moment: gzip" * doctest::test_suite("long")) {
  kill_early(Files::gzip);
}

TEST_CASE("kill at any early moment: with a journal, nothing is lost" *
          doctest::test_suite("long")) {
  kill_early(Files::journal);
}
