// These tests check what becomes of a recording when its files cannot be written.
#include "output/sink.h"
#include "record/files/trace_file.h"
#include "record/recorded.h"
#include "record/traceloom.h"
#include "support/child_process.h"
#include "support/refused_calls.h"
#include "support/small_disk.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

constexpr std::uint64_t kPart = 2'000;
constexpr std::uint64_t kMostEvents = 400'000;

// Records until an event has no room, and then `part` events more. A fixed number would not do:
// where the clock is fast and even, gzip makes less than 5 bytes of an event, and 20,000 fit into
// 96 KiB.
std::uint64_t record_until_full(Session& session, std::uint64_t part) {
  const Marker work("work");
  std::uint64_t events = 0;
  bool is_full = false;
  while (!is_full && events < kMostEvents) {
    is_full = session.status().lost > 0;
    record_scopes(work, part);
    session.flush();
    events += part;
  }
  return events;
}

// Checks what a session leaves that had no room for all events, of which it wrote `part` at a time;
// returns 0 if everything is right.
int record_too_much(const std::string& folder, const char* name, const std::string& reason,
                    std::uint64_t part = kPart) {
  Options options;
  options.folder = folder;
  options.overwrite = true;
  options.file_name = [&](const Position&) { return name; };
  std::vector<std::string> log;
  options.log = [&](const std::string& line) { log.push_back(line); };
  Session session(options);
  const std::uint64_t recorded = record_until_full(session, part);
  const Status status = session.close();
  if (status.lost == 0 || session.saved_traces().size() != 1) return 91;
  const SavedTrace saved = session.saved_traces()[0];
  if (saved.events + status.lost != recorded) return 92;
  const std::string said = saved.path + ": " + std::to_string(status.lost) + " of " +
                           std::to_string(recorded) + " events are not in it: " + reason;
  if (status.last_error != said || log.empty() || log.back() != said) return 93;
  const std::string text = read_trace(saved.path);
  if (!is_strict_json(std::string_view(text).substr(0, text.size() - 1))) return 94;
  const Events events(text);
  if (events.count("work", "X") != saved.events) return 95;
  if (events.count("recorder", "M") != 1 || events.count("clock_pairs", "M") != 2) return 96;
  const std::string counts = "\"events\":" + std::to_string(saved.events) +
                             ",\"dropped\":0,\"lost\":" + std::to_string(status.lost) +
                             ",\"error\":\"" + reason + "\",";
  return events.of("recorder", "M").with(counts).size() == 1 ? 0 : 97;
}

enum class TakingRoom : std::uint8_t { works, is_refused };

// Records too much on a disk of 96 KiB, plain and packed, `part` events at a time.
void check_on_small_disk(TakingRoom taking, std::uint64_t part) {
  for (const char* const name : {"a.json", "a.json.gz"}) {
    CAPTURE(std::string_view(name));
    const TemporaryFolder folder;
    const int code = run_child([&] {
      if (!mount_small_disk(folder.path(), 96 << 10)) _exit(kNoSmallDisk);
      if (taking == TakingRoom::is_refused) refuse_taking_room();
      _exit(record_too_much(folder.path(), name, "No space left on device", part));
    });
    if (code == kNoSmallDisk) {
      MESSAGE("skipped: nothing may be mounted here");
      return;
    }
    CHECK(code == 0);
  }
}

}  // namespace

TEST_CASE("disk full: the file says what it lacks, and ends with its bracket; close() tells") {
  const TemporaryFolder folder;
  for (const char* const name : {"a.json", "a.json.gz"}) {
    CAPTURE(std::string_view(name));
    CHECK(run_child([&] {
            limit_file_size(50'000);
            _exit(record_too_much(folder.path(), name, "File too large"));
          }) == 0);
  }
}

TEST_CASE("disk full: the same on a disk that is really full") {
  check_on_small_disk(TakingRoom::works, kPart);
}

TEST_CASE("disk full: where no room can be taken before, the last events make it") {
  check_on_small_disk(TakingRoom::is_refused, kPart);
}

TEST_CASE("disk full: as many events make room for the end as it takes, if writes were small") {
  check_on_small_disk(TakingRoom::is_refused, 1);
}

TEST_CASE("trace_file: the last text is not written if the end of the gzip member has no room") {
  constexpr std::size_t kPage = 4096;  // what is left of the disk when the file begins
  constexpr std::size_t kHeaderBytes = 10;
  constexpr std::size_t kMemberEndBytes = 10;
  const std::string first = "[{\"ph\":\"i\"}";
  const std::string last = "\n]\n";
  const auto deflated = [](std::string_view text) { return compress_block(text, 1).packed.size(); };
  std::mt19937 random(25);
  std::string noise(2 * kPage, ' ');
  for (char& letter : noise) letter = static_cast<char>('@' + random() % 64);

  for (std::size_t missing = 0; missing <= kMemberEndBytes; ++missing) {
    CAPTURE(missing);
    // The middle text leaves the room for the last one and its end, but for `missing` bytes.
    const std::size_t wanted =
        kPage - kHeaderBytes - deflated(first) - deflated(last) - kMemberEndBytes + missing;
    std::size_t size = wanted;  // it deflates to less
    while (size < noise.size() && deflated(noise.substr(0, size)) < wanted) ++size;
    const std::string middle = noise.substr(0, size);
    REQUIRE(deflated(middle) == wanted);

    const TemporaryFolder folder;
    const int code = run_child([&] {
      if (!mount_small_disk(folder.path(), 4 * kPage)) _exit(kNoSmallDisk);
      refuse_taking_room();
      std::ofstream(folder.path("other")) << std::string(3 * kPage, ' ');
      TraceFile file(folder.path("a.json.gz"), 1);
      file.write(first);
      const record::FileState after_first = file.state();
      file.write(middle);
      const record::FileState after_middle = file.state();
      std::string error;
      try {
        file.write_last(last);
      } catch (const std::exception& problem) {
        error = problem.what();
      }
      const std::string full = folder.path("a.json.gz") + ": No space left on device";
      if (error != (missing > 0 ? full : "")) _exit(91);
      std::string text = first + middle;
      text += last;
      if (missing > 0) {
        if (file.state().bytes != after_middle.bytes) _exit(92);
        file.cut_back(after_first);
        file.write_last(last);
        text = first + last;
      }
      if (file.finish(folder.path("last.json.gz"), false) != folder.path("last.json.gz")) _exit(93);
      _exit(read_trace(folder.path("last.json.gz")) == text ? 0 : 94);
    });
    if (code == kNoSmallDisk) {
      MESSAGE("skipped: nothing may be mounted here");
      return;
    }
    CHECK(code == 0);
  }
}

TEST_CASE("trace_file: room for the end is there whatever was written before") {
  const TemporaryFolder folder;
  const int code = run_child([&] {
    if (!mount_small_disk(folder.path(), 64 << 10)) _exit(kNoSmallDisk);
    TraceFile file(folder.path("a.json"), 1);
    const std::string line(1000, 'x');
    std::uint64_t lines = 0;
    try {
      for (;; ++lines) file.write(line);
    } catch (const std::exception& error) {
      if (error.what() != folder.path("a.json") + ": No space left on device") _exit(91);
    }
    const std::string filler(1 << 20, ' ');  // another file takes what is left
    std::ofstream(folder.path("other")) << filler;
    file.write_last(std::string(kEndBytes, ']'));
    if (file.state().bytes != lines * line.size() + kEndBytes) _exit(92);
    file.finish(folder.path("last.json"), false);
    _exit(std::filesystem::file_size(folder.path("last.json")) == file.state().bytes ? 0 : 93);
  });
  if (code == kNoSmallDisk)
    MESSAGE("skipped: nothing may be mounted here");
  else
    CHECK(code == 0);
}

TEST_CASE("disk full: what it has no room for of an external trace is none of the lost events") {
  const TemporaryFolder folder;
  std::string text = "[";
  for (int i = 0; i < 1000; ++i)
    text += R"({"name":"of another profiler","ph":"X","ts":1,"dur":1,"pid":1,"tid":1},)";
  const std::string external = folder.write("external/torch.json", text);
  for (const char* name : {"a.json", "a.json.gz"}) {
    const int code = run_child([&] {
      limit_file_size(3000);
      Options options = options_for(folder);
      options.overwrite = true;
      options.file_name = [&](const Position&) { return name; };
      Session session(options);
      const Marker work("work");
      { const Scope scope(work); }
      session.flush();
      session.record_chrome_json_trace_file(external);
      { const Scope scope(work); }
      session.close();
      const SavedTrace saved = session.saved_traces().at(0);
      if (saved.events + session.status().lost != 2) _exit(91);
      _exit(Events::of_file(saved.path).count("work", "X") == saved.events ? 0 : 92);
    });
    CHECK(code == 0);
  }
}

TEST_CASE(
    "disk full: the file ends with a whole event, what is lost is counted, training goes on") {
  const TemporaryFolder folder;
  const int code = run_child([&] {
    limit_file_size(100'000);
    Options options = options_for(folder);
    std::vector<std::string> log;
    options.log = [&](const std::string& line) { log.push_back(line); };
    Session session(options);
    const Marker work("work");
    for (int part = 0; part < 10; ++part) {
      for (int i = 0; i < 300; ++i) const Scope scope(work);
      session.flush();
    }
    session.close();
    const Status status = session.status();
    if (session.saved_traces().size() != 1) _exit(91);
    const SavedTrace saved = session.saved_traces()[0];
    if (saved.events + status.lost != 3000 || status.lost == 0) _exit(92);
    if (log.empty() || log[0] != folder.path("ep0-ba0-rank0.unfinished.json") +
                                     ": File too large; nothing more of this cycle is written")
      _exit(93);
    // Less than 5 kB of the room is unused.
    if (std::filesystem::file_size(saved.path) < 95'000) _exit(96);
    const Events events = Events::of_file(saved.path);
    if (events.count("work", "X") != saved.events) _exit(94);
    for (const std::string& event : events)
      if (!is_strict_json(event)) _exit(95);
    _exit(0);
  });
  CHECK(code == 0);
}

TEST_CASE("disk full: where nothing can be written there is no file, and its path is empty") {
  const TemporaryFolder folder;
  CHECK(run_child([&] {
          limit_file_size(0);
          Options options = options_for(folder);
          std::optional<SavedTrace> told;
          options.on_saved = [&](const SavedTrace& trace) { told = trace; };
          Session session(options);
          const Marker work("work");
          { const Scope scope(work); }
          session.close();
          if (!told || !told->path.empty() || told->events != 0) _exit(91);
          if (!session.saved_traces().empty() || session.status().lost != 1) _exit(92);
          _exit(files_in(folder.path()).empty() ? 0 : 93);
        }) == 0);
}

TEST_CASE("disk full: the next cycle is tried again") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = [](const Position&) { return Action::active_and_save; };
  options.file_name = [](const Position& at) {
    return at.batch < 1 ? std::string("blocked/first.json") : std::string("second.json");
  };
  static_cast<void>(folder.write("blocked", "a file where a folder should be"));
  Session session(options);
  const Marker work("work");
  run_batches(session, work, 2);
  session.close();
  CHECK(session.status().lost == 1);
  CHECK(session.status().last_error ==
        folder.path("blocked/first.unfinished.json") +
            ": Not a directory; nothing more of this cycle is written");
  REQUIRE(session.saved_traces().size() == 1);
  CHECK(Events::of_file(folder.path("second.json")).count("work", "X") == 1);
}

TEST_CASE("disk full: in C the session's end is an error that says what is lost") {
  const TemporaryFolder folder;
  CHECK(run_child([&] {
          limit_file_size(3000);
          traceloom_options options = TRACELOOM_OPTIONS_INIT;
          options.folder = folder.path().c_str();
          traceloom_session* const session = traceloom_open(&options);
          record_scopes(Marker("work"), 1000);
          if (traceloom_close(session) != -1) _exit(91);
          const std::string error = traceloom_last_error();
          const std::string path = folder.path("ep0-ba0-rank0.json");
          const Events events = Events::of_file(path);
          const std::string lost = std::to_string(1000 - events.count("work", "X"));
          _exit(error == lost + " events are lost: " + path + ": " + lost +
                             " of 1000 events are not in it: File too large"
                    ? 0
                    : 92);
        }) == 0);
}
