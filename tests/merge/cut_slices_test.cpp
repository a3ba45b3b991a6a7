// A save cuts these slices of our recorder: parts of them are in one file, the whole slice in a
// later one.
#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace traceloom;

namespace {

// The slice `id` begins at 10 and is cut at 50.
const std::string kCutInFirst =
    R"([{"ph":"B","name":"epoch","ts":10,"pid":0,"tid":7,"args":{"epoch":0}},
{"ph":"X","name":"work","ts":20,"dur":5,"pid":0,"tid":7},
{"ph":"E","name":"epoch","ts":50,"pid":0,"tid":7,"args":{"epoch":0},"cut_id":"77"}])";
const std::string kBetween = R"([{"ph":"X","name":"work","ts":60,"dur":5,"pid":0,"tid":7}])";
const std::string kWholeInThird =
    R"([{"ph":"X","name":"epoch","ts":10,"dur":90,"pid":0,"tid":7,"args":{"epoch":0},"cut_id":"77"}])";

const NamedTexts kAll{{"ep0-ba1-rank0.json", kCutInFirst},
                      {"ep0-ba2-rank0.json", kBetween},
                      {"ep0-ba3-rank0.json", kWholeInThird}};
const Texts kWhole{
    R"({"ph":"X","name":"work","ts":10,"dur":5,"pid":0,"tid":7})",
    R"({"ph":"X","name":"work","ts":50,"dur":5,"pid":0,"tid":7})",
    R"({"ph":"X","name":"epoch","ts":0,"dur":90,"pid":0,"tid":7,"args":{"epoch":0},"cut_id":"77"})"};
const std::string kCutPart =
    R"({"ph":"X","name":"epoch","ts":0, "dur": 40,"pid":0,"tid":7,"args":{"epoch":0}, "unclosed": "cut", "cut_id": "77"})";

// The events are sorted, because the order of the files is another question.
Texts ordered_events_of(const MergedCase& merged) {
  Texts events = merged.events();
  std::sort(events.begin(), events.end());
  return events;
}

Texts ordered_texts(Texts texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace

TEST_CASE("merger: a slice that saves have cut is one, and no problem") {
  const MergedCase merged(kAll);
  CHECK(ordered_events_of(merged) == ordered_texts(kWhole));
  for (std::size_t file = 0; file < 3; ++file) CHECK(merged.problems(file).empty());
  CHECK(merged.summary().events == 3);
  CHECK(merged.summary().files[0].events == 1);
  PlanOptions by_time;
  by_time.sort_by_time = true;
  CHECK(MergedCase(kAll, by_time).events() == Texts{kWhole[2], kWhole[0], kWhole[1]});
}

TEST_CASE("merger: what another pass finds of a cut slice does not depend on how files are read") {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, kAll, "out.json");
  merge_traces(options);
  const std::string text = read_file(options.output);
  options.always_survey = true;
  merge_traces(options);
  CHECK(read_file(options.output) == text);
  options.dry_run = true;
  CHECK(merge_traces(options).events == 3);
}

TEST_CASE("merger: of a cut slice that ends in no input the part that there is stays, marked") {
  const NamedTexts first(kAll.begin(), kAll.begin() + 2);
  const MergedCase merged(first);
  CHECK(merged.events() == Texts{kWhole[0], kCutPart, kWhole[1]});
  CHECK(merged.problems().empty());
}

TEST_CASE("merger: a cut slice of a merge is one with what a later file has of it") {
  const std::string node =
      MergedCase(NamedTexts(kAll.begin(), kAll.begin() + 2)).text();  // as a node is merged
  const MergedCase merged({{"node0.json", node}, kAll[2]});
  CHECK(ordered_events_of(merged) == ordered_texts(kWhole));
  CHECK(merged.summary().events == 3);
  CHECK(merged.summary().files[0].events == 2);
  CHECK(merged.summary().files[0].events_of(0).events == std::uint64_t{2});
  for (std::size_t file = 0; file < 2; ++file) CHECK(merged.problems(file).empty());
}

TEST_CASE("merger: slices of other ranks, and other cut slices, are left alone") {
  const auto of_rank_1 = [](std::string text) {
    for (std::size_t at = 0; (at = text.find("\"pid\":0", at)) != std::string::npos; ++at)
      text[at + 6] = '1';
    return text;
  };
  const MergedCase other_rank(
      {{"ep0-ba1-rank0.json", kCutInFirst}, {"ep0-ba3-rank1.json", of_rank_1(kWholeInThird)}});
  CHECK(other_rank.events().size() == 3);
  CHECK(other_rank.events()[1] == kCutPart);
  std::string other = kWholeInThird;
  other.replace(other.find("77"), 2, "78");
  const MergedCase other_slice({kAll[0], {"ep0-ba3-rank0.json", other}});
  CHECK(other_slice.events().size() == 3);
  CHECK(other_slice.events()[1] == kCutPart);
}
