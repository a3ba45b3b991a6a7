// These tests compare a filter with the slow, obvious one, on random traces.
#include "oracle/filter.h"
#include "support/merge_texts.h"
#include "support/random_trace.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

using namespace traceloom;

namespace {

constexpr std::int64_t kMs = 1'000'000;

// Some of the arrows have steps, or end at the next slice.
NamedTexts random_ranks(std::uint64_t seed, TraceStyle style) {
  NamedTexts files;
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    std::string text = random_trace({.seed = seed * 10 + static_cast<std::uint64_t>(rank),
                                     .style = style,
                                     .events = 250,
                                     .rank = rank,
                                     .broken_pairs = true});
    replace_some(text, R"("bp": "e")", R"("bp": "n")", 3);
    replace_some(text, R"("ph": "f")", R"("ph": "t")", 5);
    // The name of a counter may get a suffix, while the filter asks for it as the input has it.
    replace_some(text, R"("ph": "C")", R"("ph": "i")", 1);
    replace_some(text, R"("ph":"C")", R"("ph":"i")", 1);
    replace_some(text, R"("dur")", R"("duration")", 20);
    files.emplace_back(fmt::format("rank{}.json", rank), std::move(text));
  }
  return files;
}

// Returns slices a to f on three threads, and flow events of three ids among them, in any order.
std::string random_chains(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  std::string events;
  for (unsigned i = 0; i < 18; ++i)
    events += fmt::format(R"({{"ph":"X","name":"{}","pid":1,"tid":{},"ts":{},"dur":9}},)",
                          "abcdef"[below(6)], i % 3 + 1, i / 3 * 10);
  for (unsigned i = 0; i < 24; ++i)
    events += fmt::format(
        R"({{"ph":"{}","bp":"e","name":"flow","cat":"c","id":{},"pid":1,"tid":{},"ts":{}}},)",
        "sstttttf"[below(8)], below(3) + 1, below(3) + 1, below(60));
  return "[" + events.substr(0, events.size() - 1) + "]";
}

struct Wish {
  MergeFilter filter;
  oracle::Filter oracle;
};

// Wishes a few of many things, as the seed decides.
Wish random_wish(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto chance = [&](unsigned of) { return random() % of == 0; };
  Wish wish;
  if (chance(3)) {
    wish.filter.ranks = {{0, 0}, {2, 7}};
    wish.oracle.ranks = {0, 2};
  }
  if (chance(3)) {
    wish.filter.time = {.from_ns = 3 * kMs, .to_ns = 15 * kMs};
    for (std::int64_t rank = 0; rank < 3; ++rank) wish.oracle.windows[rank] = {{3 * kMs, 15 * kMs}};
  }
  if (chance(3)) {
    wish.filter.labels.names.emplace_back("a|mm");
    wish.oracle.names = {"a", "mm"};
  }
  if (chance(3)) {
    wish.filter.labels.excluded_names.emplace_back("aten|none");
    wish.oracle.excluded_names = {"aten", "none"};
  }
  if (chance(4)) wish.filter.labels.categories = wish.oracle.categories = {"cpu_op", "b", "(none)"};
  if (chance(3))
    wish.filter.labels.excluded_categories = wish.oracle.excluded_categories = {"kernel", "a"};
  if (chance(2)) wish.filter.min_duration_ns = wish.oracle.min_duration_ns = kMs / 5;
  return wish;
}

// The texts are sorted: events that have to be put in order share out their places, and a filter
// leaves fewer of them.
std::vector<std::string> texts_of(const std::string& merged) {
  std::vector<std::string> texts;
  for (const oracle::Json& event : events_of(merged))
    if (text_of(event, "ph") != "M") texts.push_back(canonical_text(event));
  std::sort(texts.begin(), texts.end());
  return texts;
}

void check_same(const std::vector<std::string>& got, const std::vector<std::string>& wanted) {
  CHECK(got.size() == wanted.size());
  for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
    if (got[i] == wanted[i]) continue;
    CHECK(got[i] == wanted[i]);
    return;
  }
}

// Counts the events without those that a merge has added to async events.
std::size_t count_own(const std::vector<std::string>& texts) {
  return static_cast<std::size_t>(std::count_if(
      texts.begin(), texts.end(),
      [](const std::string& text) { return text.find(R"("added":true)") == std::string::npos; }));
}

std::string merged_by(MergeOptions& options) {
  const MergeSummary summary = merge_traces(options);
  const std::string merged = read_file(options.output);
  std::uint64_t files = 0;
  for (const MergedFile& file : summary.files) files += file.events;
  // A merge of a merge takes the events which that has added for events like any other.
  const std::vector<std::string> texts = texts_of(merged);
  CHECK((summary.events == count_own(texts) || summary.events == texts.size()));
  CHECK(summary.events == files);
  return merged;
}

void check_filter(std::uint64_t seed, TraceStyle style) {
  CAPTURE(seed);
  CAPTURE(static_cast<int>(style));
  const Wish wish = random_wish(seed);
  if (!wish.filter.any()) return;
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, random_ranks(seed, style), "all.json");
  options.plan.clock.align_by = style == TraceStyle::compact ? AlignBy::none : AlignBy::any;
  const std::string all = merged_by(options);
  std::vector<std::string> wanted = oracle::filter_events(all, wish.oracle);
  std::sort(wanted.begin(), wanted.end());
  if (wanted.empty()) return;  // reported in words, see filter_test.cpp

  options.filter = wish.filter;
  options.output = folder.path("some.json");
  const std::string some = merged_by(options);
  check_same(texts_of(some), wanted);
  CHECK(base_of(some) == base_of(all));
  for (const unsigned threads : {2U, 5U}) {
    options.threads = threads;
    CHECK((merged_by(options) == some));
  }
  options.always_survey = true;
  CHECK((merged_by(options) == some));
  options.dry_run = true;
  const MergeSummary planned = merge_traces(options);
  CHECK(planned.events == count_own(wanted));
  CHECK(planned.events + planned.filtered == count_own(texts_of(all)));

  // A filtered merge of the unfiltered merge gives the same.
  options.dry_run = false;
  options.plan.clock.align_by = AlignBy::any;
  options.inputs = {{folder.path("all.json"), {}}};
  check_same(texts_of(merged_by(options)), texts_of(some));
}

}  // namespace

TEST_CASE("filter_oracle: what a filter leaves is what it would leave of the unfiltered merge" *
          doctest::test_suite("long")) {
  for (std::uint64_t seed = 0; seed < tries(24); ++seed)
    for (const TraceStyle style : {TraceStyle::composer, TraceStyle::kineto, TraceStyle::compact})
      check_filter(seed, style);
}

TEST_CASE("filter_oracle: of a chain of arrows those stay that have both their ends") {
  std::size_t cuts = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const TemporaryFolder folder;
    MergeOptions options = merge_options(folder, {{"a.json", random_chains(seed)}}, "all.json");
    const std::string all = merged_by(options);
    const oracle::Filter filter{.excluded_names = {"a", "b"}};
    std::vector<std::string> wanted = oracle::filter_events(all, filter);
    std::sort(wanted.begin(), wanted.end());
    options.filter.labels.excluded_names.emplace_back("^[ab]$");
    options.output = folder.path("some.json");
    const std::vector<std::string> got = texts_of(merged_by(options));
    check_same(got, wanted);
    const std::vector<std::string> unfiltered = texts_of(all);
    cuts += static_cast<std::size_t>(
        std::count_if(got.begin(), got.end(), [&](const std::string& text) {
          return !std::binary_search(unfiltered.begin(), unfiltered.end(), text);
        }));
  }
  CHECK(cuts > 20);
}
