// These tests check MergeFormat::perfetto_tar: a trace a rank and a manifest.
#include "base/json_string.h"
#include "base/problems.h"
#include "merge/merger.h"
#include "support/gzip_text.h"
#include "support/merge_texts.h"
#include "support/print_texts.h"
#include "support/random_trace.h"
#include "support/tar_text.h"
#include "support/trace_text.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

struct Archive {
  std::vector<std::string> names;
  std::map<std::string, std::string> texts;
  MergeSummary summary;

  std::string operator[](const std::string& name) const { return texts.at(name); }
};

Archive archive_of(const NamedTexts& files, MergeOptions options = {}) {
  const TemporaryFolder folder;
  const MergeOptions of_files = merge_options(folder, files, "merged.tar");
  options.inputs = of_files.inputs;
  options.output = of_files.output;
  options.format = MergeFormat::perfetto_tar;
  Archive archive;
  archive.summary = merge_traces(options);
  CHECK(folder.entry_count() == files.size() + 1);
  for (TarMember& member : read_tar(read_file(options.output))) {
    archive.names.push_back(member.name);
    archive.texts[member.name] = std::move(member.text);
  }
  return archive;
}

// Returns the offset of each trace, as the manifest says.
std::map<std::string, std::int64_t> offsets_of(const Archive& archive) {
  std::map<std::string, std::int64_t> offsets;
  const oracle::Json document = oracle::parse_json(archive["perfetto_manifest.json"]);
  for (const oracle::Json& file : document.find("perfetto_manifest")->find("files")->items) {
    const oracle::Json* const clocks = file.find("clocks");
    offsets[text_of(file, "path")] =
        clocks == nullptr ? 0 : std::stoll(text_of(*clocks, "offset_ns"));
  }
  return offsets;
}

// Returns the events of all ranks, placed by the manifest alone.
std::vector<oracle::MergedEvent> placed_events(const Archive& archive) {
  std::vector<oracle::MergedEvent> events;
  const std::int64_t origin_ns = std::stoll(base_of(archive[archive.names[1]]));
  for (const auto& [name, offset_ns] : offsets_of(archive)) {
    const std::int64_t base_ns = std::stoll(base_of(archive[name]));
    for (oracle::MergedEvent event : read_merged(archive[name])) {
      CHECK(event.ts_ns >= base_ns);
      event.ts_ns += origin_ns + offset_ns - base_ns;
      events.push_back(event);
    }
  }
  std::sort(events.begin(), events.end());
  return events;
}

}  // namespace

TEST_CASE("rank_archive: a node's clock that was set back has put its second cycle first") {
  NamedTexts files;
  NamedTexts nodes;
  for (const int rank : {0, 1}) {
    NamedTexts of_node;
    for (const int cycle : {4, 5}) {
      const std::int64_t sync_us =
          1'795'000'000'000'000 + cycle * 50'000'000 - (rank == 1 && cycle == 5 ? 90'000'000 : 0);
      of_node.emplace_back(fmt::format("ep0-ba{}-rank{}.json", cycle, rank),
                           rank_text(rank, std::to_string(sync_us), sync_us + 17 - rank));
    }
    nodes.emplace_back(fmt::format("node{}.json", rank), merge_texts(of_node));
    files.insert(files.end(), of_node.begin(), of_node.end());
  }
  const std::vector<oracle::MergedEvent> events = placed_events(archive_of(nodes));
  CHECK(events.size() == 4);
  CHECK(events == read_merged(merge_texts(files)));
}

TEST_CASE("rank_archive: a trace a rank, each from its own first event on") {
  const Archive archive = archive_of({{"a.json", rank_text(1, "4000", "4010.25")},
                                      {"b.json", rank_text(0, "1000", 1017)},
                                      {"c.json", rank_text(10, "2000", 2107)}});
  CHECK(archive.names ==
        Texts{"perfetto_manifest.json", "rank00.json", "rank01.json", "rank10.json"});
  CHECK(offsets_of(archive) == std::map<std::string, std::int64_t>{{"rank00.json", 0},
                                                                   {"rank01.json", 0},
                                                                   {"rank10.json", 97'000}});
  CHECK(base_of(archive["rank00.json"]) == "1010000");
  CHECK(base_of(archive["rank01.json"]) == "1010000");
  CHECK(base_of(archive["rank10.json"]) == "1107000");
  Texts starts;
  for (const std::string name : {"rank00.json", "rank01.json", "rank10.json"}) {
    CHECK(is_strict_json(archive[name]));
    for (const oracle::Json& event : events_of(archive[name]))
      if (text_of(event, "ph") == "X")
        starts.push_back(text_of(event, "pid") + " " + text_of(event, "ts"));
  }
  CHECK(starts == Texts{"0 7", "1 0.25", "10 0"});
  CHECK(archive.summary.ranks == 3);
  CHECK(archive.summary.events == 3);
  CHECK(archive.summary.origin_ns == 1'010'000);
  CHECK(archive.summary.files[0].events == 1);
  // The sync itself belongs to no event. A problem that is reported once is reported for the lowest
  // rank.
  CHECK(archive.summary.files[0].problems.kinds().empty());
  CHECK(archive.summary.files[1].problems.kinds() == std::vector<Problem>{Problem::missing_rank});
}

TEST_CASE("rank_archive: the cycles of a rank are one trace on one clock") {
  const Archive archive = archive_of({{"ep0-ba1-rank0.json", rank_text(0, "1000", 1000)},
                                      {"ep0-ba2-rank1.json", rank_text(1, "9900", 9900)},
                                      {"ep0-ba2-rank0.json", rank_text(0, "9000", 9000)},
                                      {"ep0-ba1-rank1.json", rank_text(1, "1100", 1100)}});
  Texts starts;
  for (const oracle::Json& event : events_of(archive["rank1.json"]))
    if (text_of(event, "ph") == "X") starts.push_back(text_of(event, "ts"));
  CHECK(starts == Texts{"0", "8000"});
  CHECK(archive.names.size() == 3);
}

TEST_CASE("rank_archive: says in each trace what was done to its rank, and nothing of others") {
  const std::string with_key =
      TraceText().x("a", 1, 1).object(R"("distributedInfo": {"rank": 1}, "schemaVersion": 1)");
  const Archive archive = archive_of(
      {{"rank0.json", TraceText().x("a", 1, 1).raw("null").array()}, {"b.json", with_key}});
  const oracle::Json first = oracle::parse_json(archive["rank0.json"]);
  const oracle::Json second = oracle::parse_json(archive["rank1.json"]);
  const auto count = [](const oracle::Json& document, const char* key) {
    return document.find("otherData")->find("traceloom")->find(key)->items.size();
  };
  CHECK(count(first, "ranks") == 1);
  CHECK(count(second, "ranks") == 1);
  CHECK(count(first, "problems") == 1);
  CHECK(count(second, "problems") == 1);  // no_clock: nothing relates the two clocks
  CHECK(canonical_text(*first.find("otherData")->find("ranks")) == "{}");
  CHECK(canonical_text(*second.find("otherData")->find("ranks")) ==
        R"({"1":{"distributedInfo":{"rank":1}}})");
}

TEST_CASE("rank_archive: a file that was merged before is parted into its ranks") {
  const NamedTexts files{{"a.json", rank_text(1, "4000", 4010)},
                         {"b.json", TraceText()
                                        .composer_rank(0, "1000")
                                        .m("odd", R"({"of": 0})")
                                        .x("C:\\_x", 1017, 5)
                                        .b("open", 1018)
                                        .array()}};
  const std::string merged = merge_texts(files);
  const Archive archive = archive_of({{"merged.json", merged}});
  CHECK(archive.names == Texts{"perfetto_manifest.json", "rank0.json", "rank1.json"});
  CHECK(placed_events(archive) == read_merged(merged));
  CHECK(archive["rank0.json"].find("\"odd\"") != std::string::npos);
  CHECK(archive["rank1.json"].find("\"odd\"") == std::string::npos);
  CHECK(archive.summary.files[0].events == 3);
  // Nothing is counted twice, even if it has to be read twice.
  std::string broken = merged;
  broken.replace(broken.find("\"ts\":7"), 6, "\"ts\":\"x\"");
  CHECK(archive_of({{"merged.json", broken}})
            .summary.files[0]
            .problems.count(Problem::bad_timestamp) == 1);
}

TEST_CASE("rank_archive: the processes of a rank stay apart when they are to") {
  MergeOptions options;
  options.plan.pids = PidLayout::split;
  const std::string text = TraceText()
                               .pid("60")
                               .tid("60")
                               .x("main", 1, 9)
                               .x("more", 2, 1)
                               .pid("0")
                               .tid("7")
                               .cat("kernel")
                               .x("gemm", 1, 1)
                               .object();
  const Archive archive = archive_of({{"rank0.json", text}, {"rank1.json", text}}, options);
  CHECK(ranks_of_pids(oracle::parse_json(archive["rank1.json"])) ==
        std::map<std::string, std::int64_t>{{"101", 1}, {"102", 1}});
}

TEST_CASE("rank_archive: random ranks have the events that the oracle finds") {
  for (std::uint64_t seed = 0; seed < tries(12); ++seed) {
    for (const TraceStyle style : {TraceStyle::composer, TraceStyle::kineto}) {
      CAPTURE(seed);
      NamedTexts files;
      std::vector<oracle::Input> inputs;
      for (std::int64_t rank = 0; rank < 3; ++rank) {
        const std::string text = random_trace({.seed = seed * 10 + static_cast<std::uint64_t>(rank),
                                               .style = style,
                                               .events = 150,
                                               .rank = rank});
        files.emplace_back(fmt::format("rank{}.json", rank), text);
        inputs.push_back({text, rank, 0});
      }
      const Archive archive = archive_of(files);
      const std::string merged = merge_texts(files);
      REQUIRE(placed_events(archive) == read_merged(merged));
      if (style == TraceStyle::composer)
        REQUIRE(without_counter_suffixes(placed_events(archive)) == oracle::merge(inputs));
      MergeOptions many;
      many.threads = 3;
      REQUIRE(archive_of(files, many).texts.size() == archive.texts.size());
    }
  }
}

TEST_CASE("rank_archive: the same bytes for any number of threads, packed or not") {
  NamedTexts files;
  for (std::int64_t rank = 0; rank < 2; ++rank)
    files.emplace_back(fmt::format("rank{}.json", rank),
                       random_trace({.seed = 5, .events = 15'000, .rank = rank}));
  REQUIRE(files[0].second.size() > 1'500'000);
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, files, "merged.tar");
  options.format = MergeFormat::perfetto_tar;
  merge_traces(options);
  const std::string tar = read_file(options.output);
  options.threads = 4;
  merge_traces(options);
  CHECK((read_file(options.output) == tar));
  options.output = folder.path("merged.tar.gz");
  merge_traces(options);
  const std::string packed = read_file(options.output);
  CHECK((gunzip_one_member(packed) == tar));
  options.threads = 1;
  merge_traces(options);
  CHECK((read_file(options.output) == packed));
}

TEST_CASE("rank_archive: a rank without events has a trace, too") {
  const Archive archive =
      archive_of({{"rank0.json", "[]"}, {"rank1.json", rank_text(1, "4000", 4010)}});
  CHECK(archive.names.size() == 3);
  CHECK(read_merged(archive["rank0.json"]).empty());
  CHECK(offsets_of(archive).at("rank1.json") == 0);
}

TEST_CASE("rank_archive: nothing is left of one that fails") {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(
      folder, {{"rank0.json", rank_text(0, "1000", 1017)}, {"b.json", "<html>"}}, "merged.tar");
  options.format = MergeFormat::perfetto_tar;
  CHECK_THROWS_AS(merge_traces(options), Error);
  CHECK(folder.entry_count() == 2);
  options.keep_going = true;
  CHECK(merge_traces(options).left_out.size() == 1);
  CHECK(read_tar(read_file(options.output)).size() == 2);
}

TEST_CASE("rank_archive: progress ends with all that had to be read") {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(
      folder, {{"rank0.json", rank_text(0, "1000", 1017)}, {"rank1.json", rank_text(1, "1", 7)}},
      "merged.tar");
  options.format = MergeFormat::perfetto_tar;
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    CHECK(done >= last);
    CHECK(done <= all);
    last = done;
    total = all;
  };
  merge_traces(options);
  CHECK(last == total);
  CHECK(total == 2 * (rank_text(0, "1000", 1017).size() + rank_text(1, "1", 7).size()));
}

TEST_CASE("rank_archive: a filter leaves what it leaves of the one trace") {
  const NamedTexts files{{"rank0.json", rank_text(0, "1000", 1017)},
                         {"rank1.json", rank_text(1, "1", 7)},
                         {"rank2.json", rank_text(2, "1", 47)}};
  const auto archive_with = [&](const MergeFilter& filter) {
    MergeOptions options;
    options.filter = filter;
    return archive_of(files, options);
  };
  const auto merged_with = [&](const MergeFilter& filter) {
    const TemporaryFolder folder;
    MergeOptions options = merge_options(folder, files, "merged.json");
    options.filter = filter;
    merge_traces(options);
    return read_merged(read_file(options.output));
  };
  MergeFilter some_ranks;
  some_ranks.ranks = {{1, 2}};
  const Archive ranks = archive_with(some_ranks);
  CHECK(ranks.names == Texts{"perfetto_manifest.json", "rank1.json", "rank2.json"});
  CHECK(placed_events(ranks) == merged_with(some_ranks));
  CHECK(ranks.summary.filtered == 1);
  // Time counts in the whole run, though the trace of rank 2 begins at its own first event. A rank
  // without events left is not in the archive.
  MergeFilter late;
  late.time = TimeSelection{10'000, std::nullopt};
  const Archive later = archive_with(late);
  CHECK(later.names == Texts{"perfetto_manifest.json", "rank0.json", "rank2.json"});
  CHECK(placed_events(later) == merged_with(late));
  CHECK(placed_events(later).size() == 2);
}

TEST_CASE("rank_archive: the format follows from the name") {
  for (const char* name : {"m.tar", "m.tar.gz", "m.TAR.GZ", "m.tgz", "a/b.Tar"})
    CHECK(format_of_name(name) == MergeFormat::perfetto_tar);
  for (const char* name : {"m.json", "m.json.gz", "tar", "-", "", "m.tar.json", "m.gz"})
    CHECK(format_of_name(name) == MergeFormat::json);
}

TEST_CASE("rank_archive: a begin that is never closed is as long as in the merge of one file") {
  const auto rank = [](TraceText& trace, int number, int from) -> TraceText& {
    return trace.pid(std::to_string(number))
        .m("global_rank", fmt::format(R"({{"value": {}}})", number))
        .b("fit", from)
        .x("a", from + 10, 100 * (number + 1));
  };
  TraceText trace;
  rank(rank(trace, 0, 0), 1, 5000);
  const NamedTexts files{{"merge.json", trace.array()}};
  const Archive archive = archive_of(files);
  CHECK(placed_events(archive) == read_merged(merge_texts(files)));
  Texts durations;
  for (const char* const name : {"rank0.json", "rank1.json"})
    for (const oracle::Json& event : events_of(archive[name]))
      if (text_of(event, "name") == "fit") durations.push_back(text_of(event, "dur"));
  CHECK(durations == Texts{"110", "210"});
}
