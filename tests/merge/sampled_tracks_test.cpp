// These tests check rows that top-level samples belong to: catapult knows their threads by tid
// alone.
#include "merge/frame/top_level_values.h"
#include "support/merged_case.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

std::string trace_of(const std::string& tid, const std::string& samples) {
  return TraceText().pid("5").tid(tid).x("x", 1, 9).object("\"samples\": [" + samples + "]");
}

// Returns "pid/tid" of each slice, then of each sample.
Texts threads_in(const std::string& merged) {
  Texts found;
  const auto add = [&](const oracle::Json& object) {
    found.push_back(text_of(object, "pid") + "/" + text_of(object, "tid"));
  };
  for (const oracle::Json& event : events_of(merged))
    if (text_of(event, "ph") == "X") add(event);
  const oracle::Json document = oracle::parse_json(merged);
  if (document.find("samples") != nullptr)
    for (const oracle::Json& sample : document.find("samples")->items) add(sample);
  return found;
}

}  // namespace

TEST_CASE("sampled_tracks: rows with samples have a tid that no other row has") {
  const std::string sampled = trace_of("7", R"({"ts":3,"tid":7,"name":"s"})");
  CHECK(threads_in(merge_texts({{"rank0.json", sampled}, {"rank1.json", sampled}})) ==
        Texts{"0/20000000", "1/20000001", "0/20000000", "1/20000001"});
  // A thread of another rank may have the tid without having samples.
  CHECK(threads_in(merge_texts({{"rank0.json", sampled}, {"rank1.json", trace_of("7", "")}})) ==
        Texts{"0/20000000", "1/7", "0/20000000"});
  CHECK(threads_in(merge_texts({{"rank0.json", sampled}, {"rank1.json", trace_of("8", "")}})) ==
        Texts{"0/7", "1/8", "0/7"});
  // A number that is taken is skipped.
  CHECK(threads_in(merge_texts({{"rank0.json", sampled},
                                {"rank1.json", trace_of("7", "")},
                                {"rank2.json", trace_of("20000000", "")}})) ==
        Texts{"0/20000001", "1/7", "2/20000000", "0/20000001"});
}

TEST_CASE("sampled_tracks: merged again, apart or with others, rows are what all at once have") {
  const NamedTexts files{{"rank0.json", trace_of("7", R"({"ts":3,"tid":7,"name":"s"})")},
                         {"rank1.json", trace_of("7", R"({"ts":3,"tid":7,"name":"s"})")}};
  const std::string whole = merge_texts(files);
  CHECK(without_other_data(merge_texts({{"merged.json", whole}})) == without_other_data(whole));
  const std::string a = merge_texts({files[0]});
  const std::string b = merge_texts({files[1]});
  CHECK(threads_in(a) == Texts{"0/7", "0/7"});
  CHECK(threads_in(merge_texts({{"a.json", a}, {"b.json", b}})) == threads_in(whole));
}

TEST_CASE("sampled_tracks: processes of a rank that stay apart do not share samples either") {
  const std::string trace = TraceText()
                                .pid("5")
                                .tid("5")
                                .x("x", 1, 9)
                                .tid("7")
                                .x("x", 1, 1)
                                .pid("6")
                                .tid("7")
                                .x("x", 1, 1)
                                .object(R"("samples": [{"ts":3,"tid":7,"pid":6,"name":"s"}])");
  CHECK(threads_in(merge_texts({{"rank1.json", trace}}, 1, AlignBy::any, PidLayout::split)) ==
        Texts{"101/5", "101/7", "102/20000000", "102/20000000"});
}

TEST_CASE("sampled_tracks: a thread that has nothing but samples has a row") {
  const std::string trace = TraceText()
                                .pid("5")
                                .tid("7")
                                .x("x", 1, 9)
                                .tid("9")
                                .m("thread_name", R"({"name": "sampler"})")
                                .object(R"("samples": [{"ts":3,"tid":9},{"ts":4,"tid":11}])");
  const std::string merged =
      merge_texts({{"rank0.json", trace}, {"rank1.json", trace_of("9", "")}});
  CHECK(threads_in(merged) == Texts{"0/7", "1/9", "0/20000000", "0/11"});
  CHECK(merged.find(R"("tid":20000000,"args":{"name":"sampler","source_tid":9}})") !=
        std::string::npos);
  CHECK(merged.find(R"("tid":11,"args":{"name":"thread 11"}})") != std::string::npos);
  CHECK(without_other_data(merge_texts({{"merged.json", merged}})) == without_other_data(merged));
}

TEST_CASE("sampled_tracks: a sample without a pid is of the busiest thread of its tid") {
  TrackFacts quiet;
  quiet.pid = "1";
  quiet.tid = "7";
  quiet.events = 1;
  TrackFacts busy = quiet;
  busy.pid = "\"2\"";
  busy.events = 5;
  std::vector<TrackFacts> tracks{quiet, busy};
  const SampledTracks known(tracks);
  CHECK(known.find("", "7") == 1);
  CHECK(known.find("1", "\"7\"") == 0);
  CHECK(known.find("2", "7.0") == 1);
  CHECK_FALSE(known.find("3", "7").has_value());
  CHECK_FALSE(known.find("", "8").has_value());
  mark_sampled_tracks(R"([{"ts":1,"tid":7},{"ts":"x","tid":8},{"ts":2,"tid":9},{"ts":2,"tid":9}])",
                      tracks);
  REQUIRE(tracks.size() == 3);
  CHECK_FALSE(tracks[0].has_samples);
  CHECK(tracks[1].has_samples);
  CHECK(tracks[2].pid == "\"2\"");
  CHECK(tracks[2].tid == "9");
}
