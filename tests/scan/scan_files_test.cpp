#include "scan/scan_files.h"

#include "base/problems.h"
#include "scan/list_reader.h"
#include "scan/plain_scan.h"
#include "support/child_process.h"
#include "support/gzip_text.h"
#include "support/random_trace.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

using Strings = std::vector<std::string>;

std::vector<FoundFile> scan(const Strings& paths, unsigned threads = 2) {
  Recorder recorder(paths.size());
  scan_files(paths, recorder, {.threads = threads, .progress = {}});
  std::vector<std::size_t> in_order;
  for (std::size_t i = 0; i < paths.size(); ++i) in_order.push_back(i);
  CHECK(recorder.order == in_order);
  for (FoundFile& file : recorder.files) {
    CHECK(file.ends == 1);
    file.ends = 0;
  }
  return std::move(recorder.files);
}

FoundFile scan_text(const std::string& text, unsigned threads = 2) {
  const TemporaryFolder folder;
  return std::move(scan({folder.write("t.json", text)}, threads).front());
}

// The whole text and chunks of 1 MiB give the same.
void check_text(const std::string& text, unsigned threads = 2) {
  const FoundFile expected = scan_whole(text);
  const FoundFile found = scan_text(text, threads);
  REQUIRE(found.error == "");
  REQUIRE(found.events == expected.events);
  CHECK(found.problems == expected.problems);
  CHECK(found == expected);
}

// Events without end, so that a text can be made of any size.
void append_events(std::string& text, std::size_t size) {
  for (int i = 0; text.size() < size; ++i) {
    if (text.back() == '}') text += ',';
    text += R"({"name":"e)" + std::to_string(i) + R"(","ph":"X","ts":)" + std::to_string(i) +
            R"(,"dur":1,"args":{"a":"b"}})";
  }
}

}  // namespace

TEST_CASE("scan_files: never holds more chunks than it is told to, and gives the same") {
  // Counts the results that are out: made, and not recycled.
  class Counting : public Recorder {
   public:
    using Recorder::Recorder;
    std::unique_ptr<ChunkResult> make_result() override {
      const int now = ++out;
      for (int most = peak; now > most && !peak.compare_exchange_weak(most, now);) continue;
      return std::make_unique<Counted>(out);
    }
    std::atomic<int> out = 0;
    std::atomic<int> peak = 0;

   private:
    struct Counted : Result {
      explicit Counted(std::atomic<int>& now_out) : out(now_out) {}
      bool reset() override {
        --out;
        return false;
      }
      std::atomic<int>& out;
    };
  };
  const std::string text = random_trace({.seed = 3, .events = 60'000});
  REQUIRE(text.size() > 6 * kChunkBytes);
  const FoundFile expected = scan_whole(text);
  const TemporaryFolder folder;
  const std::string path = folder.write("t.json", text);
  for (const std::size_t chunks : {1U, 2U}) {
    Counting visitor(1);
    scan_files({path}, visitor, {.threads = 4, .chunks_in_flight = chunks});
    CHECK(visitor.files[0].events == expected.events);
    CHECK(visitor.out == 0);
    // A chunk that does not begin at an event is scanned again where it is joined.
    CHECK(visitor.peak <= static_cast<int>(chunks) + 1);
  }
}

TEST_CASE("scan_files: leaves out what is larger than the largest event that was asked for") {
  std::string text = "[";
  append_events(text, 1000);
  text += R"(,{"name":")" + std::string(3 * kChunkBytes, 'x') + R"("},{"name":"last"}])";
  const TemporaryFolder folder;
  const std::string path = folder.write("t.json", text);
  Recorder small(1);
  scan_files({path}, small, {.max_event_bytes = kChunkBytes});
  CHECK(small.files[0].problems ==
        Strings{"event_too_large 1@" + std::to_string(text.find(R"({"name":"xx)"))});
  CHECK(small.files[0].events.back().raw == R"({"name":"last"})");
  Recorder large(1);
  scan_files({path}, large, {});
  CHECK(large.files[0].problems.empty());
}

TEST_CASE("scan_files: gives large traces of all styles as they are, with 1, 2 and 5 threads") {
  for (const TraceStyle style : {TraceStyle::composer, TraceStyle::kineto, TraceStyle::compact}) {
    const std::string text = random_trace({.seed = 3, .style = style, .events = 25'000});
    REQUIRE(text.size() > 3 * kChunkBytes);
    const FoundFile expected = scan_whole(text);
    const std::vector<FoundEvent> events = split_list(text, list_begin(text));
    REQUIRE(expected.events == events);
    const TemporaryFolder folder;
    const std::string path = folder.write("t.json", text);
    for (const unsigned threads : {1U, 2U, 5U}) {
      const FoundFile found = std::move(scan({path}, threads).front());
      REQUIRE(found.events == events);
      REQUIRE(found.problems.empty());
      REQUIRE(found.members == expected.members);
      REQUIRE(found.text_bytes == text.size());
    }
  }
}

TEST_CASE("scan_files: hands files on in their order, small and large, plain and packed") {
  const TemporaryFolder folder;
  Strings paths;
  std::vector<FoundFile> expected;
  for (int i = 0; i < 12; ++i) {
    const std::string text = random_trace({.seed = static_cast<std::uint64_t>(i),
                                           .style = static_cast<TraceStyle>(i % 3),
                                           .events = i == 4 ? 10'000 : 20 * i});
    paths.push_back(folder.write("t" + std::to_string(i), i % 2 == 0 ? text : gzip(text)));
    expected.push_back(scan_whole(text));
  }
  for (const unsigned threads : {1U, 3U}) REQUIRE(scan(paths, threads) == expected);
}

TEST_CASE("scan_files: an event of 3 MB among others") {
  std::string text = "[";
  append_events(text, 700'000);
  text += R"(,{"name":"big","args":{"text":")";
  const std::string like_an_event = R"(\"},{\"name\":\")" + std::string(40, 'x') + R"(\",)";
  for (int i = 0; i < 50'000; ++i) text += like_an_event;
  REQUIRE(text.size() > 3'000'000);
  text += R"(","list":[{"name":"x"}]}})";
  append_events(text, text.size() + 1'500'000);
  check_text(text + "]");
}

TEST_CASE("scan_files: guesses inside events larger than a chunk change nothing") {
  std::string text = R"({"traceEvents":[)";
  append_events(text, 500'000);
  text += R"(,{"name":"big","args":{"list":[{"name":"first"})";
  for (int i = 0; i < 70'000; ++i) text += R"(,{"name":"inner","ph":"X","ts":1})";
  text += R"(]},"ts":5})";
  append_events(text, text.size() + 1'200'000);
  check_text(text + R"(],"traceName":"x"})");
}

TEST_CASE("scan_files: the border of a chunk inside a string, right at an escaped quote") {
  // A key that no guess knows: chunks have to end where 1 MiB does.
  for (std::size_t shift = 0; shift < 8; ++shift) {
    std::string text = "[" + std::string(kChunkBytes - 40 - shift, ' ') + R"({"zz":")";
    for (int i = 0; i < 12; ++i) text += R"(a\"\\)";
    text += R"("},{"zz":"\\"},{"name":"\"","ph":"X"}])";
    REQUIRE(text.size() > kChunkBytes);
    check_text(text);
    CHECK(scan_text(text).event_count == 3);
  }
}

TEST_CASE("scan_files: white space larger than chunks between events") {
  std::string text = R"([{"ph":"X"})" + std::string(2 * kChunkBytes, '\n') + R"(,{"name":"b"})" +
                     std::string(kChunkBytes, ' ') + "," + std::string(kChunkBytes, ' ');
  check_text(text);
  CHECK(scan_text(text).event_count == 2);
  text += R"({"name":"c"})" + std::string(kChunkBytes, ' ') + "]" + std::string(kChunkBytes, ' ');
  check_text(text);
  CHECK(scan_text(text).event_count == 3);
}

TEST_CASE("scan_files: many lists one behind the other") {
  std::string text;
  while (text.size() < 2 * kChunkBytes + 1000) text += R"([{"name":"a"},{"ph":"X","ts":1}])";
  check_text(text);
}

TEST_CASE("scan_files: members larger than chunks before and behind the list") {
  std::string devices = R"("devices":[{"name":"d"})";
  while (devices.size() < kChunkBytes + 1000) devices += R"(,{"name":"d","id":1})";
  devices += "]";
  std::string text = "{" + devices + R"(,"traceEvents":[)";
  append_events(text, text.size() + 300'000);
  text += "],\"more\":1," + devices + "}";
  check_text(text);
  CHECK(scan_text(text).members.size() == 3);
}

TEST_CASE("scan_files: damage in the middle costs the events that it meets") {
  std::string text = "[";
  append_events(text, 3 * kChunkBytes);
  text += "]";
  for (const std::size_t at : {kChunkBytes / 2, kChunkBytes - 20, 2 * kChunkBytes + 5})
    text.insert(text.find("\"ts\"", at), "\"odd\" ");
  check_text(text);
  const FoundFile found = scan_text(text, 5);
  REQUIRE(found.problems.size() == 1);
  CHECK(found.problems[0].starts_with("malformed_event 3@"));
}

TEST_CASE("scan_files: a file that fails is told once, and the others go on") {
  const TemporaryFolder folder;
  std::string object = R"({"traceEvents":7,"members":")";
  object += std::string(3 * kChunkBytes, 'x') + "\"}";
  std::string no_json = "[";
  while (no_json.size() <= kChunkBytes) no_json += "{'name':'" + std::string(200, 'x') + "'},\n";
  const std::string good = R"([{"ph":"X"}])";
  const Strings paths = {folder.write("a", good),
                         folder.path("missing"),
                         folder.write("empty", ""),
                         folder.write("b", good),
                         folder.write("text", "hello"),
                         folder.write("object", object),
                         folder.write("no_json", no_json),
                         folder.write("zip", "PK\3\4..........."),
                         folder.path(),
                         folder.write("c", good)};
  for (const unsigned threads : {1U, 4U}) {
    const std::vector<FoundFile> files = scan(paths, threads);
    for (const std::size_t i : {0U, 3U, 9U}) CHECK(files[i] == scan_whole(good));
    CHECK(files[1].error == paths[1] + ": No such file or directory");
    CHECK(files[2].error == paths[2] + ": the file is empty");
    CHECK(files[4].error ==
          paths[4] +
              ": byte 0: not a trace: the text is not JSON; a trace starts with [ "
              "or {");
    CHECK(files[5].error == paths[5] + ": not a trace: traceEvents is a number, not a list");
    CHECK(files[6].error ==
          paths[6] + ": byte 1: not a trace: what stands in the event list is not JSON");
    CHECK(files[7].error.starts_with(paths[7] + ": is "));
    CHECK(files[8].error == paths[8] + ": is a directory; name the files in it");
  }
}

TEST_CASE("scan_files: a visitor that does not care for broken files stops at the first") {
  struct Strict : Recorder {
    using Recorder::Recorder;
    void fail_file(std::size_t file, const Error& error) override {
      FileVisitor::fail_file(file, error);
    }
  };
  const TemporaryFolder folder;
  Strict visitor(2);
  CHECK_THROWS_WITH_AS(
      scan_files({folder.write("a", "[]"), folder.write("b", "x")}, visitor, {}),
      (folder.path("b") + ": byte 0: not a trace: the text is not JSON; a trace starts with [ or {")
          .c_str(),
      Error);
}

TEST_CASE("scan_files: an error of the visitor itself is no failure of the file") {
  struct FullDisk : Recorder {
    using Recorder::Recorder;
    void take(ChunkResult&, std::size_t) override { throw Error("out.json", "No space left"); }
  };
  struct FullAtEnd : Recorder {
    using Recorder::Recorder;
    void end_file(std::size_t, const FileEnd&) override {
      throw Error("out.json", "No space left");
    }
  };
  const TemporaryFolder folder;
  const Strings paths = {folder.write("a", R"([{"ph":"X"}])")};
  FullDisk in_take(1);
  CHECK_THROWS_WITH_AS(scan_files(paths, in_take, {}), "out.json: No space left", Error);
  CHECK(in_take.files[0].ends == 0);
  FullAtEnd in_end(1);
  CHECK_THROWS_WITH_AS(scan_files(paths, in_end, {}), "out.json: No space left", Error);
  CHECK(in_end.files[0].ends == 0);
}

TEST_CASE("scan_files: damage of the packing is told at the end of the file") {
  std::string text = "[";
  append_events(text, 2 * kChunkBytes);
  const std::string packed = gzip(text + "]");
  const FoundFile found = scan_text(packed.substr(0, packed.size() / 2));
  CHECK(found.error == "");
  CHECK(found.event_count > 1'000);
  Strings names;
  for (const std::string& problem : found.problems)
    names.push_back(problem.substr(0, problem.find(' ')));
  CHECK(names == Strings{"cut_event", "gzip_cut"});
}

TEST_CASE("scan_files: results are made, finished and recycled one for one") {
  struct Counter : FileVisitor {
    struct Counted : ChunkResult {
      explicit Counted(std::atomic<int>& resets) : recycled(resets) {}
      bool reset() override {
        ++recycled;
        return false;
      }
      std::atomic<int>& recycled;
    };
    std::unique_ptr<ChunkResult> make_result() override {
      ++made;
      return std::make_unique<Counted>(recycled);
    }
    void visit(ChunkResult&, std::size_t, const Event&) override { ++visits; }
    void finish_chunk(ChunkResult&) override { ++finished; }
    void take(ChunkResult&, std::size_t) override { ++taken; }
    void end_file(std::size_t, const FileEnd& end) override { events += end.events; }
    std::atomic<int> made{0}, finished{0}, recycled{0}, visits{0};
    int taken = 0;
    std::uint64_t events = 0;
  };
  std::string text = "[";
  append_events(text, 3 * kChunkBytes);
  const TemporaryFolder folder;
  const std::string path = folder.write("t.json", text);
  Counter counter;
  std::mutex mutex;
  std::uint64_t last = 0;
  scan_files({path, path}, counter, {.threads = 3, .progress = [&](std::uint64_t bytes) {
                                       const std::lock_guard lock(mutex);
                                       CHECK(bytes >= last);
                                       last = bytes;
                                     }});
  CHECK(counter.made == 8);
  CHECK(counter.finished == 8);
  CHECK(counter.recycled == 8);
  CHECK(counter.taken == 8);
  CHECK(counter.visits == static_cast<int>(counter.events));
  CHECK(last == 2 * text.size());
}

TEST_CASE("scan_files: results that can be reset are used again") {
  struct Reusing : FileVisitor {
    struct Result : ChunkResult {
      int visits = 0;
      bool reset() override {
        visits = 0;
        return true;
      }
    };
    std::unique_ptr<ChunkResult> make_result() override {
      ++made;
      return std::make_unique<Result>();
    }
    void visit(ChunkResult& result, std::size_t, const Event&) override {
      ++static_cast<Result&>(result).visits;
    }
    void take(ChunkResult& result, std::size_t) override {
      visits += static_cast<Result&>(result).visits;
    }
    void end_file(std::size_t, const FileEnd& end) override { events += end.events; }
    int made = 0;
    int visits = 0;
    std::uint64_t events = 0;
  };
  std::string text = "[";
  append_events(text, 3 * kChunkBytes);
  const TemporaryFolder folder;
  Reusing visitor;
  scan_files({folder.write("t.json", text)}, visitor, {.threads = 1});
  CHECK(visitor.made == 1);
  CHECK(visitor.visits == static_cast<int>(visitor.events));
}

TEST_CASE("scan_files: no file at all is no work") {
  Recorder recorder(0);
  scan_files({}, recorder, {});
  CHECK(recorder.order.empty());
}

TEST_CASE("scan_files: one thread works in the child of a process that has scanned with more") {
  const TemporaryFolder folder;
  std::string text = "[";
  append_events(text, std::size_t{5} << 20);
  const std::string path = folder.write("t.json", text + "]");
  const std::size_t events = scan({path}, 4).front().events.size();
  CHECK(run_child([&] {
          constexpr unsigned kSeconds = 900;
          alarm(kSeconds);  // TBB would wait for its threads for ever
          const bool is_same = scan({path}, 1).front().events.size() == events;
          _exit(is_same ? 0 : 1);
        }) == 0);
}
