// These tests check that a merge by guess gives the bytes of a merge by survey, whether the guess
// was right or not.
#include "merge/survey/survey_visitor.h"
#include "support/gzip_text.h"
#include "support/merge_texts.h"
#include "support/random_trace.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

struct Merged {
  std::string text;
  std::uint64_t passes = 0;
};

Merged merge_inputs(const NamedTexts& files, bool always_survey, bool keep_going = false,
                    AlignBy align_by = AlignBy::any) {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, files, "merged.json");
  options.always_survey = always_survey;
  options.keep_going = keep_going;
  options.plan.clock.align_by = align_by;
  options.threads = 2;
  std::uint64_t total = 0;
  options.progress = [&](std::uint64_t, std::uint64_t all) { total = all; };
  merge_traces(options);
  std::uint64_t stored = 0;
  for (const auto& [name, text] : files) stored += text.size();
  std::string text = read_file(options.output);
  const std::string folder_path = folder.path();  // otherData has it
  for (std::size_t at = 0; (at = text.find(folder_path)) != std::string::npos;)
    text.erase(at, folder_path.size());
  CHECK(folder.entry_count() == files.size() + 1);  // no temporary file
  return {std::move(text), (total + stored / 2) / stored};
}

// Returns how many passes the merge took; 0 if it did not give what it has to.
std::uint64_t passes(const NamedTexts& files, bool keep_going = false,
                     AlignBy align_by = AlignBy::any) {
  const Merged guessed = merge_inputs(files, false, keep_going, align_by);
  const Merged surveyed = merge_inputs(files, true, keep_going, align_by);
  REQUIRE(surveyed.passes == 2);
  return guessed.text == surveyed.text ? guessed.passes : 0;
}

// Returns a trace much larger than its samples, with `middle` where no sample is taken.
std::string long_trace(const std::string& middle, const std::string& end = "") {
  std::string text = "{\"traceEvents\": [\n";
  constexpr int kEvents = 6000;
  for (int i = 0; i < kEvents; ++i) {
    if (i == kEvents / 2) text += middle;
    text +=
        fmt::format(R"({{"ph": "X", "name": "op{}", "ts": {}.5, "dur": 2, "pid": 1, "tid": 7}},)"
                    "\n",
                    i % 10, 1000 + 3 * i);
    if (i % 10 == 0)
      text += fmt::format(R"({{"ph": "s", "id": {}, "ts": {}, "pid": 1, "tid": 7}},)"
                          "\n",
                          1 + i % 100, 1001 + 3 * i);
  }
  return text + R"({"ph": "i", "name": "end", "ts": 90000, "pid": 1, "tid": 7}])" + end + "}";
}

std::uint64_t passes_with(const std::string& middle) {
  return passes({{"rank0.json", long_trace(middle)}, {"rank1.json", long_trace("")}});
}

}  // namespace

TEST_CASE("survey_guess: one pass where the samples tell what is needed") {
  CHECK(passes_with("") == 1);
  CHECK(passes_with(R"({"ph": "X", "name": "new", "ts": 1000.5, "dur": 9, "pid": 1, "tid": 7},)") ==
        1);
  CHECK(passes_with(R"({"ph": "s", "id": 20, "ts": 1500, "pid": 1, "tid": 7},)") == 1);
  CHECK(passes_with("{\"ph\": \"i\", \"name\": \"a\tb\", \"ts\": 1500, \"pid\": 1, \"tid\": 7},") ==
        1);
  CHECK(passes_with(R"({"ph": "X", "name": "bad", "pid": 1, "tid": 7},)") == 1);
}

TEST_CASE("survey_guess: the end of a file counts: base time, rank") {
  const std::string base = R"(, "baseTimeNanoseconds": 1700000000000000000)";
  const std::string rank = R"(, "distributedInfo": {"rank": 3})";
  CHECK(passes({{"a.json", long_trace("", base + rank)}, {"b.json", long_trace("", base)}}) == 1);
}

TEST_CASE("survey_guess: two passes where something unexpected stands between the samples") {
  // The unexpected event is the earliest one.
  CHECK(passes_with(R"({"ph": "X", "name": "first", "ts": 7, "dur": 1, "pid": 1, "tid": 7},)") ==
        2);
  // The track is new, with and without events before the origin.
  CHECK(passes_with(R"({"ph": "X", "name": "other", "ts": 1500, "dur": 1, "pid": 1, "tid": 8},)") ==
        2);
  CHECK(passes_with(R"({"ph": "X", "name": "other", "ts": 5, "dur": 1, "pid": 2, "tid": 8},)") ==
        2);
  // The unexpected event names a track.
  CHECK(passes_with(R"({"ph": "M", "name": "thread_name", "pid": 1, "tid": 7,)"
                    R"( "args": {"name": "main"}},)") == 2);
  // The metadata is kept.
  CHECK(passes_with(R"({"ph": "M", "name": "num_cpus", "pid": 1, "tid": 7, "args": {"n": 3}},)") ==
        2);
  // The event says a rank and a clock.
  CHECK(passes_with(R"({"ph": "M", "name": "global_rank", "pid": 1, "tid": 7,)"
                    R"( "args": {"value": 5}},)") == 2);
  // The ids are larger than all before, text, or of kinds that the samples did not have.
  CHECK(passes_with(R"({"ph": "s", "id": 77777, "ts": 1500, "pid": 1, "tid": 7},)") == 2);
  CHECK(passes_with(R"({"ph": "s", "id": "0x7f", "ts": 1500, "pid": 1, "tid": 7},)") == 2);
  CHECK(passes_with(R"({"ph": "b", "id": 5, "ts": 1500, "pid": 1, "tid": 7},)") == 2);
  CHECK(passes_with(R"({"ph": "X", "bind_id": 5, "ts": 1500, "dur": 1, "pid": 1, "tid": 7},)") ==
        2);
  CHECK(passes_with(R"({"ph": "N", "id": "0x5", "ts": 1500, "pid": 1, "tid": 7},)") == 2);
  // Two processes of a rank have counters of one name.
  CHECK(passes_with(R"({"ph": "C", "name": "c", "ts": 1500, "pid": 1, "args": {"v": 1}},)"
                    R"({"ph": "C", "name": "c", "ts": 1500, "pid": 2, "args": {"v": 1}},)") == 2);
  // The earliest time of all stands inside args.
  CHECK(passes_with(R"({"ph": "c", "ts": 1000, "pid": 1, "tid": 7, "args": {"issue_ts": 900}},)") ==
        2);
  // A second list has events of another process.
  CHECK(passes_with(R"({"ph": "i", "ts": 1500, "pid": 1, "tid": 7}], "traceEvents": [)"
                    R"({"ph": "i", "ts": 1500, "pid": 4, "tid": 4},)") == 2);
}

TEST_CASE("survey_guess: two passes where the clock syncs stand between the samples") {
  const auto with_sync = [](int us) {
    return long_trace(
        fmt::format(R"({{"ph": "M", "name": "clock_sync_timestamp_us", "pid": 1, "tid": 7,)"
                    R"( "args": {{"value": {}}}}},)",
                    us));
  };
  CHECK(passes({{"rank0.json", with_sync(500)}, {"rank1.json", with_sync(900)}}) == 2);
}

TEST_CASE("survey_guess: what a single file does not share with others needs no second pass") {
  const std::string large_id = R"({"ph": "s", "id": 77777, "ts": 1500, "pid": 1, "tid": 7},)";
  CHECK(passes({{"rank0.json", long_trace(large_id)}}) == 1);
}

TEST_CASE(
    "survey_guess: a begin and an end between the samples, or half of them, are no surprise") {
  CHECK(passes_with(R"({"ph": "E", "name": "stray", "ts": 1500, "pid": 1, "tid": 7},)") == 1);
  CHECK(passes_with(R"({"ph": "E", "name": "stray", "ts": 5, "pid": 1, "tid": 7},)") == 1);
  // An X written before it may be around it.
  CHECK(passes_with(R"({"ph": "B", "name": "open", "ts": 1500, "pid": 1, "tid": 7},)") == 2);
  CHECK(passes_with(R"({"ph": "B", "name": "step", "ts": 1500, "pid": 1, "tid": 7},)"
                    R"({"ph": "E", "name": "step", "ts": 1600, "pid": 1, "tid": 7},)") == 1);
}

TEST_CASE("survey_guess: packed files are sampled, too") {
  const std::string base = R"(, "baseTimeNanoseconds": 1700000000000000000)";
  CHECK(passes({{"rank0.json", gzip(long_trace("", base))},
                {"rank1.json", long_trace("", base)}}) == 1);
  const std::string early =
      R"({"ph": "X", "name": "first", "ts": 7, "dur": 1, "pid": 1, "tid": 7},)";
  CHECK(passes({{"rank0.json", gzip(long_trace(early))}}) == 2);
  // The file is cut off, and so lacks the base time at its end.
  std::string cut = gzip(long_trace("", base));
  cut.resize(cut.size() / 2);
  CHECK(passes({{"rank0.json", cut}}) == 1);
}

TEST_CASE("survey_guess: stack frames and samples at the end are seen in time") {
  const std::string frame = R"({"ph": "i", "sf": 1, "ts": 1500, "pid": 1, "tid": 7},)";
  const auto with_sample = [&](int ts) {
    return long_trace(frame, fmt::format(R"(,"stackFrames": {{"1": {{"name": "m"}}}},)"
                                         R"("samples": [{{"ts": {}, "tid": 7, "sf": 1}}])",
                                         ts));
  };
  CHECK(passes({{"rank0.json", with_sample(1500)}, {"rank1.json", with_sample(1700)}}) == 1);
  CHECK(passes({{"rank0.json", with_sample(1500)}, {"rank1.json", with_sample(500)}}) == 1);
}

TEST_CASE("survey_guess: no guess for merged files") {
  const std::string merged = merge_inputs({{"rank0.json", long_trace("")}}, true).text;
  CHECK(passes({{"again.json", merged}}) == 2);
}

TEST_CASE("survey_guess: a file that cannot be read is left out as a survey leaves it out") {
  const NamedTexts files{{"rank0.json", long_trace("")}, {"rank1.json", "no trace"}};
  CHECK(passes(files, true) == 2);
}

TEST_CASE("survey_guess: a guess that survives a file without events") {
  CHECK(passes({{"rank0.json", "[]"}, {"rank1.json", long_trace("")}}) == 1);
}

TEST_CASE("survey_guess: generated traces come out the same" * doctest::test_suite("long")) {
  for (std::uint64_t seed = 0; seed < tries(30); ++seed) {
    NamedTexts files;
    for (std::uint64_t rank = 0; rank < 2; ++rank)
      files.push_back({fmt::format("rank{}.json", rank),
                       random_trace({.seed = 2 * seed + rank,
                                     .style = static_cast<TraceStyle>(seed % 3),
                                     .events = 1500})});
    CAPTURE(seed);
    // Some of the traces seem to be in Unix time, some not.
    CHECK(passes(files, false, AlignBy::none) > 0);
  }
}
