// These tests compare the merge with the slow, obvious one, on random traces.
#include "base/json_string.h"
#include "support/merge_texts.h"
#include "support/random_trace.h"
#include "support/trace_text.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <limits>
#include <map>
#include <random>

using namespace traceloom;

namespace {

constexpr std::string_view kComposerSync = "1795202033315521";  // random_trace() writes it
constexpr std::int64_t kKinetoBaseNs = 1'767'189'312'000'000'000;

struct RandomSet {
  NamedTexts files;
  std::vector<oracle::Input> inputs;
};

// Makes ranks of one style. Composer's have clocks that differ by seconds, Kineto's share one base,
// compact ones say nothing about their clock.
RandomSet random_set(std::uint64_t seed, TraceStyle style, std::int64_t ranks, int events,
                     bool rare_events = false, bool never_ended = false) {
  RandomSet set;
  std::mt19937_64 random(seed);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::string text = random_trace({.seed = seed * 10 + static_cast<std::uint64_t>(rank),
                                     .style = style,
                                     .events = events,
                                     .rank = rank,
                                     .never_ended = never_ended,
                                     .rare_events = rare_events});
    std::int64_t shift_ns = style == TraceStyle::kineto ? kKinetoBaseNs : 0;
    if (style == TraceStyle::composer && rank > 0) {
      const std::int64_t ahead_us = static_cast<std::int64_t>(random() % 9'000'000) - 4'500'000;
      const std::size_t at = text.find(kComposerSync);
      text.replace(at, kComposerSync.size(),
                   std::to_string(std::stoll(std::string(kComposerSync)) + ahead_us));
      shift_ns = -ahead_us * 1000;
    }
    set.files.emplace_back(fmt::format("rank{}.json", rank), text);
    set.inputs.push_back({std::move(text), rank, shift_ns});
  }
  return set;
}

// Some compact traces seem to be in Unix time, some not, and a merge refuses to place those side by
// side.
AlignBy align_by(TraceStyle style) {
  return style == TraceStyle::compact ? AlignBy::none : AlignBy::any;
}

std::string shown(const oracle::MergedEvent& event) {
  return fmt::format("rank {} {} {} {}/{} +{} {}", event.rank, event.ts_ns, event.phase, event.name,
                     event.cat, event.duration_ns, event.args);
}

void check_same(const std::vector<oracle::MergedEvent>& merged,
                const std::vector<oracle::MergedEvent>& wanted) {
  const std::vector<oracle::MergedEvent> got = without_counter_suffixes(merged);
  CHECK(got.size() == wanted.size());
  for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
    if (got[i] == wanted[i]) continue;
    CHECK(shown(got[i]) == shown(wanted[i]));
    return;
  }
}

// Checks that the merge equals the oracle's, for any thread count, and has this text.
void check_unclosed(const RandomSet& set, TraceStyle style, std::string_view text) {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, set.files, "merged.json");
  options.plan.clock.align_by = align_by(style);
  merge_traces(options);
  const std::string merged = read_file(options.output);
  check_same(read_merged(merged), oracle::merge(set.inputs));
  CHECK(merged.find(text) != std::string::npos);
  options.threads = 4;
  merge_traces(options);
  REQUIRE(read_file(options.output) == merged);
}

}  // namespace

TEST_CASE("oracle_comparison: the merge of random ranks has the events that the oracle finds" *
          doctest::test_suite("long")) {
  for (std::uint64_t seed = 0; seed < tries(40); ++seed) {
    for (const TraceStyle style : {TraceStyle::composer, TraceStyle::kineto, TraceStyle::compact}) {
      CAPTURE(seed);
      CAPTURE(static_cast<int>(style));
      const RandomSet set = random_set(seed, style, 1 + static_cast<std::int64_t>(seed % 4), 200);
      const TemporaryFolder folder;
      MergeOptions options = merge_options(folder, set.files, "merged.json");
      options.plan.clock.align_by = align_by(style);
      merge_traces(options);
      const std::string merged = read_file(options.output);
      REQUIRE(is_strict_json(merged));
      check_same(read_merged(merged), oracle::merge(set.inputs));
      options.plan.pids = PidLayout::split;
      merge_traces(options);
      const std::string split = read_file(options.output);
      REQUIRE(is_strict_json(split));
      check_same(read_merged(split), oracle::merge(set.inputs));
      options.plan.pids = PidLayout::rank;
      for (const unsigned threads : {2U, 5U}) {
        options.threads = threads;
        merge_traces(options);
        REQUIRE(read_file(options.output) == merged);
      }
    }
  }
}

TEST_CASE("oracle_comparison: an X without dur ends where the last event of its thread begins") {
  for (std::uint64_t seed = 0; seed < tries(20); ++seed) {
    for (const TraceStyle style : {TraceStyle::composer, TraceStyle::kineto, TraceStyle::compact}) {
      CAPTURE(seed);
      CAPTURE(static_cast<int>(style));
      RandomSet set = random_set(seed + 500, style, 2, 200);
      for (std::size_t i = 0; i < set.files.size(); ++i) {
        std::string& text = set.files[i].second;
        replace_some(text, R"("dur")", R"("duration")", 7);
        // A merge makes rows of these categories, which the oracle does not know.
        replace_some(text, R"("kernel")", R"("host")", 1);
        set.inputs[i].text = text;
      }
      check_unclosed(set, style, R"("unclosed": "no dur")");
    }
  }
}

TEST_CASE("oracle_comparison: an X that never ended ends with its file") {
  for (std::uint64_t seed = 0; seed < tries(20); ++seed) {
    for (const TraceStyle style : {TraceStyle::composer, TraceStyle::kineto, TraceStyle::compact}) {
      CAPTURE(seed);
      CAPTURE(static_cast<int>(style));
      const RandomSet set = random_set(seed + 700, style, 2, 200, false, true);
      check_unclosed(set, style, R"("unclosed": "never ended")");
    }
  }
}

TEST_CASE("oracle_comparison: a sorted merge has the same events, by time" *
          doctest::test_suite("long")) {
  for (std::uint64_t seed = 0; seed < tries(20); ++seed) {
    for (const TraceStyle style : {TraceStyle::composer, TraceStyle::kineto, TraceStyle::compact}) {
      CAPTURE(seed);
      CAPTURE(static_cast<int>(style));
      const RandomSet set = random_set(seed + 300, style, 3, 200);
      const TemporaryFolder folder;
      MergeOptions options = merge_options(folder, set.files, "merged.json");
      options.plan.clock.align_by = align_by(style);
      options.plan.sort_by_time = true;
      merge_traces(options);
      const std::string merged = read_file(options.output);
      check_same(read_merged(merged), oracle::merge(set.inputs));
      std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
      for (const oracle::Json& event : events_of(merged)) {
        if (text_of(event, "ph") == "M") continue;
        REQUIRE(ns_of(event, "ts") >= last_ns);
        last_ns = ns_of(event, "ts");
      }
      options.threads = 4;
      merge_traces(options);
      REQUIRE(read_file(options.output) == merged);
    }
  }
}

namespace {

// Slices and arrows of two rows, many of which begin in one nanosecond. With `padded`, some events
// fill a chunk of the file.
std::string arrows_text(std::mt19937_64& random, bool padded, bool sorts, int rank) {
  std::vector<std::pair<std::uint64_t, std::string>> events;
  // All arrows begin in a slice of another row.
  const auto add = [&](std::uint64_t ns, char phase, std::string name, std::string more) {
    events.emplace_back(ns, fmt::format(R"({{"ph":"{}","name":"{}","cat":"c","ts":0.0{:02},)"
                                        R"("pid":1,"tid":{}{}}})",
                                        phase, name, ns, ns == 0 ? 9 : random() % 2, more));
  };
  add(0, 'X', "start", R"(,"dur":1)");
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t ns = 1 + random() % 20;
    const std::string name = fmt::format("{} of {}", i, rank);
    const std::string padding =
        padded && random() % 20 == 0 ? std::string(std::size_t{1} << 20, 'p') : "";
    // Slices without length stay where they are, also before the slices of their arrows.
    const std::uint64_t dur = random() % 6 + (sorts ? 0 : 1);
    if (random() % 2 == 0)
      add(ns, 'X', name, fmt::format(R"(,"dur":0.00{},"args":{{"p":"{}"}})", dur, padding));
    else
      add(ns, 'f', name, fmt::format(R"(,"id":{},"args":{{"p":"{}"}})", i, padding));
    add(0, 's', name, fmt::format(R"(,"id":{})", i));
  }
  std::ranges::stable_sort(events, {}, &std::pair<std::uint64_t, std::string>::first);
  std::string text = "[";
  for (const auto& [ns, event] : events) text += (text.size() > 1 ? ",\n" : "") + event;
  return text + "]";
}

}  // namespace

TEST_CASE("oracle_comparison: arrows end at the slices at which they end in the inputs") {
  for (std::uint64_t seed = 0; seed < tries(30); ++seed) {
    for (const bool sorts : {false, true}) {
      if (sorts != (seed % 2 == 0) && !is_night()) continue;
      CAPTURE(seed);
      CAPTURE(sorts);
      std::mt19937_64 random(seed);
      NamedTexts files;
      std::vector<std::pair<std::string, std::string>> wanted;
      for (int rank = 0; rank < 3; ++rank) {
        files.emplace_back(fmt::format("rank{}.json", rank),
                           arrows_text(random, seed % 10 == 0, sorts, rank));
        for (auto& bound : oracle::next_slices(oracle::parse_json(files.back().second)))
          wanted.push_back(std::move(bound));
      }
      std::ranges::sort(wanted);
      const TemporaryFolder folder;
      MergeOptions options = merge_options(folder, files, "merged.json");
      options.plan.sort_by_time = sorts;
      merge_traces(options);
      const std::string merged = read_file(options.output);
      REQUIRE(oracle::next_slices(oracle::parse_json(merged)) == wanted);
      options.threads = 4;
      merge_traces(options);
      REQUIRE(read_file(options.output) == merged);
    }
  }
}

TEST_CASE("oracle_comparison: Composer files with torch's events among their own") {
  constexpr std::int64_t kBaseUs = 227 * std::int64_t{7'889'238'000'000};
  for (std::uint64_t seed = 0; seed < tries(20); ++seed) {
    CAPTURE(seed);
    RandomSet set = random_set(seed + 300, TraceStyle::composer, 2, 200);
    std::mt19937_64 random(seed);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      std::string torch;
      for (int i = 0; i < 100; ++i)
        torch += fmt::format(
            R"({{"name": "aten::op", "ph": "X", "ts": {}.{:03}, "dur": {}, "pid": 1, "tid": 7}},)"
            "\n",
            1'795'202'033'000'000 - kBaseUs + static_cast<std::int64_t>(random() % 1'000'000),
            random() % 1000, random() % 100);
      oracle::Input& input = set.inputs[rank];
      input.text.insert(input.text.find('\n', input.text.size() / 2) + 1, torch);
      input.relative_shift_ns = input.shift_ns + kBaseUs * 1000;
      set.files[rank].second = input.text;
    }
    const std::string merged = merge_texts(set.files);
    check_same(read_merged(merged), oracle::merge(set.inputs));
    REQUIRE(without_other_data(merge_texts(set.files, 5)) == without_other_data(merged));
  }
}

TEST_CASE("oracle_comparison: ranks that drift between two cycles") {
  for (std::uint64_t seed = 0; seed < tries(20); ++seed) {
    CAPTURE(seed);
    // Rank 1 is late, and more so in its second file, which has nothing but the sync.
    RandomSet set = random_set(seed + 400, TraceStyle::composer, 2, 200);
    const std::int64_t sync_us = std::stoll(std::string(kComposerSync));
    const std::int64_t shift_us = set.inputs[1].shift_ns / 1000;
    const std::int64_t slope_us = static_cast<std::int64_t>(seed) * 97 - 970;
    const auto mark = [&](int rank, std::int64_t us) {
      return TraceText().composer_rank(rank, std::to_string(us)).array();
    };
    set.files[0].first = "ba1-rank0.json";
    set.files[1].first = "ba1-rank1.json";
    set.files.emplace_back("ba2-rank0.json", mark(0, sync_us + 3'000'000));
    set.files.emplace_back("ba2-rank1.json", mark(1, sync_us + 3'000'000 - shift_us - slope_us));
    set.inputs[1].shift_ns = 0;
    set.inputs[1].drift = {
        {(sync_us - shift_us) * 1000, shift_us * 1000},
        {(sync_us + 3'000'000 - shift_us - slope_us) * 1000, (shift_us + slope_us) * 1000}};
    const TemporaryFolder folder;
    MergeOptions options = merge_options(folder, set.files, "merged.json");
    options.plan.clock.drift = DriftMode::linear;
    merge_traces(options);
    const std::string merged = read_file(options.output);
    check_same(read_merged(merged), oracle::merge(set.inputs));
    options.threads = 5;
    merge_traces(options);
    REQUIRE(read_file(options.output) == merged);
  }
}

TEST_CASE("oracle_comparison: traces of many chunks give the same bytes for any thread count") {
  const RandomSet set = random_set(7, TraceStyle::composer, 2, 22'000);
  REQUIRE(set.files[0].second.size() > 3'000'000);
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, set.files, "merged.json");
  merge_traces(options);
  const std::string merged = read_file(options.output);
  check_same(read_merged(merged), oracle::merge(set.inputs));
  for (const unsigned threads : of_today(std::vector<unsigned>{5U, 2U})) {
    options.threads = threads;
    merge_traces(options);
    REQUIRE(read_file(options.output) == merged);
  }
  options.inputs = {{options.output, {}}};
  options.output = folder.path("again.json");
  merge_traces(options);
  CHECK(without_other_data(read_file(options.output)) == without_other_data(merged));
}

TEST_CASE("oracle_comparison: a merge of a merge is the same but for otherData" *
          doctest::test_suite("long")) {
  for (std::uint64_t seed = 0; seed < tries(20); ++seed) {
    for (const TraceStyle style : {TraceStyle::composer, TraceStyle::kineto, TraceStyle::compact}) {
      CAPTURE(seed);
      CAPTURE(static_cast<int>(style));
      const NamedTexts files = random_set(seed + 100, style, 3, 150).files;
      for (const PidLayout pids : {PidLayout::rank, PidLayout::split}) {
        const std::string once = merge_texts(files, 1, align_by(style), pids);
        const std::string twice = merge_texts({{"once.json", once}}, 1, AlignBy::any, pids);
        REQUIRE(without_other_data(twice) == without_other_data(once));
      }
    }
  }
}

TEST_CASE("oracle_comparison: rare events, too, merge into themselves, for any thread count" *
          doctest::test_suite("long")) {
  for (std::uint64_t seed = 0; seed < tries(60); ++seed) {
    const auto style = static_cast<TraceStyle>(seed % 3);
    CAPTURE(seed);
    const RandomSet set = random_set(seed + 300, style, 3, 150, true);
    const TemporaryFolder folder;
    MergeOptions options = merge_options(folder, set.files, "once.json");
    options.plan.clock.align_by = align_by(style);
    merge_traces(options);
    const std::string once = read_file(options.output);
    REQUIRE(is_strict_json(once));
    options.threads = 4;
    merge_traces(options);
    REQUIRE(read_file(options.output) == once);
    options.always_survey = true;
    merge_traces(options);
    REQUIRE(read_file(options.output) == once);
    REQUIRE(without_other_data(merge_texts({{"once.json", once}})) == without_other_data(once));
  }
}

TEST_CASE("oracle_comparison: a rank split into two files keeps everything") {
  for (std::uint64_t seed = 0; seed < tries(20); ++seed) {
    CAPTURE(seed);
    const RandomSet set = random_set(seed + 200, TraceStyle::composer, 1, 300);
    // Whole threads go into one half, so that no pair is torn; the metadata goes into both.
    std::array<std::string, 2> halves{"[", "["};
    const std::string& text = set.inputs[0].text;
    for (std::size_t begin = 2, end = 0; begin < text.size(); begin = end + 1) {
      end = text.find('\n', begin);
      std::string line = text.substr(begin, end - begin);
      if (line == "]") break;
      if (line.back() == ',') line.pop_back();
      const bool is_metadata = line.find("\"ph\": \"M\"") != std::string::npos;
      const bool is_first = line.find("\"pid\": 1, ") != std::string::npos;
      for (std::size_t half = 0; half < 2; ++half)
        if (is_metadata || (half == 0) == is_first)
          halves[half] += (halves[half].size() > 1 ? ",\n" : "") + line;
    }
    const TemporaryFolder folder;
    MergeOptions options = merge_options(
        folder, {{"a-rank0.json", halves[0] + "]"}, {"b-rank0.json", halves[1] + "]"}}, "out.json");
    // A slice that stays open ends with its file, so its end differs in a half.
    const auto without_ends = [](std::vector<oracle::MergedEvent> events) {
      for (oracle::MergedEvent& event : events) event.duration_ns = 0;
      std::sort(events.begin(), events.end());
      return events;
    };
    merge_traces(options);
    check_same(without_ends(read_merged(read_file(options.output))),
               without_ends(oracle::merge(set.inputs)));
  }
}
