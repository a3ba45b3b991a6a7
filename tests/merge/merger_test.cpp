#include "merge/merger.h"

#include "base/problems.h"
#include "oracle/json_value.h"
#include "support/gzip_text.h"
#include "support/merge_texts.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("merger: ranks meet on the clock of the lowest one, by their syncs") {
  const std::string merged =
      merge_texts({{"a.json", rank_text(1, "4000", 4010)}, {"b.json", rank_text(0, "1000", 1007)}});
  CHECK(starts_in(merged) == Texts{"1 3", "0 0"});
  CHECK(base_of(merged) == "1007000");
  CHECK(merged.starts_with("{\""));
  CHECK(merged.ends_with("}"));
}

TEST_CASE("merger: bases that differ are folded into the times") {
  const std::string text =
      TraceText().x("a", "0.5", 1).object(R"("baseTimeNanoseconds": 1700000000000000000)");
  const std::string later =
      TraceText().x("a", "0.25", 1).object(R"("baseTimeNanoseconds": 1700000001000000000)");
  const std::string merged = merge_texts({{"rank0.json", text}, {"rank1.json", later}});
  CHECK(starts_in(merged) == Texts{"0 0.5", "1 1000000.25"});
  CHECK(base_of(merged) == "1700000000000000000");
}

TEST_CASE("merger: each cycle of a rank is shifted by its own sync, in one process") {
  const std::string merged = merge_texts({{"ep0-ba1-rank0.json", rank_text(0, "1000", 1000)},
                                          {"ep0-ba2-rank0.json", rank_text(0, "9000", 9000)},
                                          {"ep0-ba1-rank1.json", rank_text(1, "1100", 1100)},
                                          {"ep0-ba2-rank1.json", rank_text(1, "9900", 9900)}});
  CHECK(starts_in(merged) == Texts{"0 0", "0 8000", "1 0", "1 8000"});
}

TEST_CASE("merger: says what it did") {
  const TemporaryFolder folder;
  const NamedTexts files{{"rank1.json", rank_text(1, "4000", 4010)},
                         {"rank0.json", rank_text(0, "1000", 1007)}};
  std::uint64_t bytes = 0;
  MergeOptions options = merge_options(folder, files, "out.json");
  options.progress = [&](std::uint64_t done, std::uint64_t) { bytes = done; };
  const MergeSummary summary = merge_traces(options);
  REQUIRE(summary.files.size() == 2);
  CHECK(summary.files[0].path == folder.path("rank1.json"));
  CHECK(summary.files[0].rank == 1);
  CHECK(summary.files[0].rank_source == RankSource::metadata_event);
  CHECK(summary.files[0].clock.method == ClockMethod::sync);
  CHECK(summary.files[0].clock.offset_ns == -3'000'000);
  CHECK(summary.files[0].events == 1);
  CHECK(summary.files[0].problems.empty());
  CHECK(summary.processes.size() == 2);
  CHECK(summary.events == 2);
  CHECK(summary.origin_ns == 1'007'000);
  CHECK(summary.text_bytes == files[0].second.size() + files[1].second.size());
  CHECK(bytes == summary.text_bytes);
}

TEST_CASE("merger: writes gzip for a name in .gz, as one member") {
  const TemporaryFolder folder;
  const NamedTexts files{{"rank0.json", rank_text(0, "1000", 1007)}};
  MergeOptions options = merge_options(folder, files, "out.json");
  merge_traces(options);
  const std::string plain = read_file(options.output);
  options.output = folder.path("out.json.gz");
  merge_traces(options);
  CHECK(gunzip_one_member(read_file(options.output)) == plain);
}

TEST_CASE("merger: reads gzip whatever the name") {
  const std::string text = rank_text(0, "1000", 1007);
  CHECK(without_other_data(merge_texts({{"rank0.json", gzip(text)}})) ==
        without_other_data(merge_texts({{"rank0.json", text}})));
}

TEST_CASE("merger: a list without its bracket, with a last comma, or cut keeps its whole events") {
  const TraceText two = TraceText().x("a", 1, 2).x("b", 3, 4);
  const std::string whole = without_other_data(merge_texts({{"r.json", two.array()}}));
  CHECK(without_other_data(merge_texts({{"r.json", two.cut_array()}})) == whole);
  const std::string array = two.array();
  CHECK(without_other_data(merge_texts({{"r.json", array.substr(0, array.rfind(']'))}})) == whole);
  CHECK(without_other_data(merge_texts(
            {{"r.json", two.cut_array() + R"({"name": "cut", "ph": "X", "ts": 12)"}})) == whole);
}

TEST_CASE("merger: an empty trace gives a trace with a name and no events") {
  const std::string merged = merge_texts({{"rank4.json", "[]"}});
  CHECK(starts_in(merged).empty());
  CHECK(base_of(merged) == "0");
}

TEST_CASE("merger: threads of a process without a pid share no row with those of the main one") {
  const TemporaryFolder folder;
  const MergeOptions options = merge_options(
      folder,
      {{"rank0.json",
        R"([{"ph":"B","name":"x","ts":0,"pid":1,"tid":7},{"ph":"B","name":"x","ts":5,"tid":7},)"
        R"({"ph":"E","name":"x","ts":10,"pid":1,"tid":7},{"ph":"E","name":"x","ts":20,"tid":7}])"}},
      "out.json");
  merge_traces(options);
  const std::string merged = read_file(folder.path("out.json"));
  CHECK(merged.find(R"("ts":5,"pid":0,"tid":7)") == std::string::npos);
  CHECK(merged.find(R"({"pid": 0, "ph":"X","name":"x","ts":5, "dur": 15,"tid":10000000})") !=
        std::string::npos);
}

TEST_CASE("merger: metadata that many files or chunks repeat is written once") {
  const auto text = [](int start) {
    return TraceText()
        .m("num_cpus", R"({"number": 8})")
        .m("num_cpus", R"({"number": 8})")
        .m("thread_name", R"({"name": "main"})")
        .x("a", start, 1)
        .m("thread_name", R"({"name": "main"})")
        .array();
  };
  const std::string merged = merge_texts({{"a-rank0.json", text(1)}, {"b-rank0.json", text(9)}});
  std::map<std::string, int> counts;
  for (const oracle::Json& event : events_of(merged))
    if (text_of(event, "ph") == "M") ++counts[text_of(event, "name")];
  CHECK(counts["num_cpus"] == 1);
  CHECK(counts["thread_name"] == 1);
  CHECK(counts["process_name"] == 1);
}

TEST_CASE("merger: a merge of a merge is the same, to the byte, but for otherData") {
  const std::string flows =
      TraceText()
          .composer_rank(0, "1000")
          .x("a", 1000, 9)
          .with_id("s", "flow", 1001, "5")
          .with_id("f", "flow", 1002, "\"0x5\"")
          .with_id("b", "async", 1003, "77")
          .with_id("e", "async", 1004, "\"z\"")
          .raw(R"({"ph":"X","name":"a","ts":1005,"dur":1,"pid":1,"tid":1,"bind_id":3})")
          .raw(R"({"ph":"M","name":"num_cpus","pid":1,"args":{"number":8}})")
          .pid("\"Spans\"")
          .tid("\"x\"")
          .x("span", "1000.25", 3)
          .b("open", 1003)
          .object("\"schemaVersion\": 1, \"run\": 1");
  std::string second = flows;
  second.replace(second.find("\"value\": 0"), 10, "\"value\": 1");
  second.replace(second.find("\"schemaVersion\": 1"), 18, "\"schemaVersion\": 2");
  const std::string once = merge_texts({{"a.json", flows}, {"b.json", second}});
  const std::string twice = merge_texts({{"merged.json", once}});
  CHECK(without_other_data(once) == without_other_data(twice));
  const oracle::Json first = oracle::parse_json(once);
  const oracle::Json again = oracle::parse_json(twice);
  CHECK(canonical_text(*first.find("otherData")->find("ranks")) ==
        R"({"0":{"run":1,"schemaVersion":1},"1":{"run":1,"schemaVersion":2}})");
  CHECK(canonical_text(*again.find("otherData")->find("ranks")) ==
        R"({"0":{"run":1,"schemaVersion":1},"1":{"run":1,"schemaVersion":2}})");
}

TEST_CASE("merger: a merged file can be joined by another rank, without ids in common") {
  const TraceText ids =
      TraceText()
          .x("a", 1, 9)
          .with_id("b", "async", 2, "0")
          .with_id("s", "f", 2, "0")
          .raw(R"({"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":1,"bind_id":0})");
  const std::string once = merge_texts({{"rank0.json", ids.array()}, {"rank1.json", ids.array()}});
  for (const bool merged_first : {true, false}) {
    const NamedTexts files = merged_first
                                 ? NamedTexts{{"m.json", once}, {"rank2.json", ids.array()}}
                                 : NamedTexts{{"rank2.json", ids.array()}, {"m.json", once}};
    const std::string merged = merge_texts(files, 1, AlignBy::none);
    std::set<std::string> ids_met;
    for (const oracle::Json& event : events_of(merged)) {
      if (const oracle::Json* id2 = event.find("id2"))
        ids_met.insert("async " + text_of(*id2, "local"));
      for (const char* key : {"id", "bind_id"})
        if (event.find(key) != nullptr)
          ids_met.insert(std::string(key) + " " + text_of(event, key));
    }
    CHECK(ids_met.size() == 9);
  }
}

TEST_CASE("merger: a file without a clock beside files with one is refused, with what to do") {
  const TemporaryFolder folder;
  const NamedTexts files{{"rank0.json", rank_text(0, "1000", 1007)},
                         {"rank1.json", TraceText().x("a", 5, 1).array()}};
  MergeOptions options = merge_options(folder, files, "out.json");
  CHECK_THROWS_WITH_AS(
      merge_traces(options),
      (folder.path("rank1.json") +
       ": rank 1 has no clock sync and no base time, while other files have; give --offset 1=0 (or "
       "what its clock is behind) to place it, or --align none to leave all times as they are")
          .c_str(),
      Error);
  CHECK(folder.entry_count() == 2);
  options.plan.clock.offsets[1] = 2'000'000;  // 2 ms
  merge_traces(options);
  CHECK(starts_in(read_file(options.output)) == Texts{"0 0", "1 998"});
  options.plan.clock = {.align_by = AlignBy::none};
  merge_traces(options);
  CHECK(starts_in(read_file(options.output)) == Texts{"0 1002", "1 0"});
}

TEST_CASE("merger: a file on another clock than its rank's others is refused, with what to do") {
  const TemporaryFolder folder;
  const NamedTexts files{
      {"ep0-ba1-rank0.json", rank_text(0, "1795202302559745", 1'795'202'302'559'750)},
      {"rank0.json", TraceText().x("a", 17, 1).array()}};
  MergeOptions options = merge_options(folder, files, "out.json");
  CHECK_THROWS_WITH_AS(merge_traces(options),
                       (folder.path("rank0.json") +
                        ": its times do not say when they began, while those of other files of "
                        "rank 0 do; leave it out, or give --align none to leave all times as they "
                        "are")
                           .c_str(),
                       Error);
  CHECK(folder.entry_count() == 2);
  options.plan.clock = {.align_by = AlignBy::none};
  merge_traces(options);
  CHECK(starts_in(read_file(options.output)) == Texts{"0 0", "0 1795202302559733"});
}

TEST_CASE("merger: a stray small time does not make another clock of Unix times") {
  const TemporaryFolder folder;
  constexpr std::int64_t kAt = 1'795'202'302'559'750;
  const NamedTexts files{
      {"ep0-ba1-rank0.json", rank_text(0, "1795202302559745", kAt)},
      {"ep0-ba1-rank1.json", rank_text(1, "1795202302559775", kAt + 30)},
      {"extra-rank1.json", TraceText().x("bad", 0, 1).x("good", kAt + 40, 1).array()}};
  MergeOptions options = merge_options(folder, files, "out.json");
  const MergeSummary summary = merge_traces(options);
  CHECK(summary.files[2].clock.method == ClockMethod::sync_of_rank);
  CHECK(summary.files[2].clock.offset_ns == -30'000);
}

TEST_CASE("merger: what was merged without a clock has none, whatever base the merge gave it") {
  const std::string first = merge_texts({{"rank0.json", TraceText().x("a", 5000, 1).array()}});
  const std::string second = merge_texts({{"rank1.json", TraceText().x("b", 7000, 1).array()}});
  const std::string raw = TraceText().x("c", 9000, 1).array();
  const TemporaryFolder folder;
  MergeOptions options = merge_options(
      folder, {{"m0.json", first}, {"m1.json", second}, {"rank2.json", raw}}, "out.json");
  const MergeSummary summary = merge_traces(options);
  CHECK(starts_in(read_file(options.output)) == Texts{"0 0", "1 2000", "2 4000"});
  for (const MergedFile& file : summary.files) CHECK(file.problems.count(Problem::no_clock) == 0);
  options.plan.clock.offsets[0] = 1'000'000;  // a merge needs no other one to be moved
  options.inputs.pop_back();
  merge_traces(options);
  CHECK(starts_in(read_file(options.output)) == Texts{"0 0", "1 1000"});
  const std::string based =
      R"({"baseTimeNanoseconds":1719853884000000000,"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1}]})";
  options = merge_options(folder, {{"m0.json", first}, {"rank1.json", based}}, "out.json");
  CHECK_THROWS_WITH_AS(
      merge_traces(options),
      (folder.path("m0.json") +
       ": rank 0 has no clock sync and no base time, while other files have; give --offset 0=0 (or "
       "what its clock is behind) to place it, or --align none to leave all times as they are")
          .c_str(),
      Error);
}

TEST_CASE("merger: the origin is the first event, that of the inputs, or what is given") {
  const TemporaryFolder folder;
  const NamedTexts files{{"rank0.json", rank_text(0, "1000", 1007)},
                         {"rank1.json", rank_text(1, "4000", 4010)}};
  MergeOptions options = merge_options(folder, files, "out.json");
  const auto merged = [&](OriginKind kind, std::int64_t origin_ns) {
    options.plan.origin = kind;
    options.plan.origin_ns = origin_ns;
    merge_traces(options);
    return read_file(options.output);
  };
  CHECK(starts_in(merged(OriginKind::first_event, 0)) == Texts{"0 0", "1 3"});
  CHECK(base_of(merged(OriginKind::first_event, 0)) == "1007000");
  CHECK(starts_in(merged(OriginKind::keep, 0)) == Texts{"0 1007", "1 1010"});
  CHECK(base_of(merged(OriginKind::keep, 0)) == "0");
  CHECK(starts_in(merged(OriginKind::given, 1'000'000)) == Texts{"0 7", "1 10"});
  CHECK(base_of(merged(OriginKind::given, 1'000'000)) == "1000000");
  CHECK_THROWS_WITH_AS(merged(OriginKind::given, 1'008'500),
                       "--origin: the first event is 1.500 us before it; name 1007000 or earlier, "
                       "or min",
                       UsageError);
}

TEST_CASE("merger: a dry run plans, and writes nothing") {
  const TemporaryFolder folder;
  const NamedTexts files{{"rank0.json", rank_text(0, "1000", 1007)},
                         {"rank1.json", rank_text(1, "4000", 4010)}};
  MergeOptions options = merge_options(folder, files, "out.json");
  options.dry_run = true;
  const MergeSummary summary = merge_traces(options);
  CHECK(folder.entry_count() == 2);
  REQUIRE(summary.files.size() == 2);
  CHECK(summary.files[1].rank == 1);
  CHECK(summary.files[1].clock.offset_ns == -3'000'000);
  CHECK(summary.files[1].events_in == 1);
  CHECK(summary.files[1].events == 1);
  REQUIRE(summary.processes.size() == 2);
  CHECK(summary.processes[1].rank == 1);
  CHECK(summary.processes[1].tracks.size() == 1);
}

TEST_CASE("merger: clock options that move nothing are refused") {
  const std::string trace = TraceText().composer_rank(0, "1000").x("a", 1000, 5).array();
  const NamedTexts files{{"rank0.json", trace}};
  const NamedTexts merged{
      {"m.json",
       merge_texts({{"rank0.json", trace},
                    {"rank1.json", TraceText().composer_rank(1, "1000").x("a", 1, 5).array()}})}};
  const auto refused = [](const NamedTexts& inputs, const ClockOptions& clock) {
    const TemporaryFolder folder;
    MergeOptions options = merge_options(folder, inputs, "out.json");
    options.plan.clock = clock;
    try {
      merge_traces(options);
    } catch (const UsageError& error) {
      std::string what = error.what();
      if (const std::size_t at = what.find(folder.path() + "/"); at != std::string::npos)
        what.erase(at, folder.path().size() + 1);
      return what;
    }
    return std::string();
  };
  CHECK(refused(files, {.offsets = {{9, 1}}}) == "--offset 9: no input belongs to rank 9");
  CHECK(
      refused(merged, {.offsets = {{1, 1}}}) ==
      "--offset 1: rank 1 is in m.json, a merged file whose ranks are aligned already; it moves as "
      "a whole, with --offset 0=TIME");
  CHECK(refused(merged, {.offsets = {{0, 1}}}) == "");
  const NamedTexts unsynced{{"rank0.json", TraceText().x("a", 1000, 5).array()}};
  CHECK(refused(unsynced, {.align_by = AlignBy::sync}) ==
        "--align sync: no input has a clock sync; leave --align out, or give base or none");
  CHECK(refused(files, {.align_by = AlignBy::sync}) == "");
}
