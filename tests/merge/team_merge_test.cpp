// A merge by several processes has the bytes, the summary and the message of a merge by one.
#include "base/problems.h"
#include "merge/merger.h"
#include "support/merge_texts.h"
#include "support/thread_transport.h"
#include "support/trace_text.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

// All that users see of a merge: its bytes and its summary, or its message.
struct Outcome {
  std::string text;
  std::string summary;
  bool operator==(const Outcome&) const = default;
};

std::string words_of(const ProblemCounts& problems) {
  std::string words;
  for (const Problem kind : problems.kinds())
    words += fmt::format(" {} {} at {} {}", describe(kind).name, problems.count(kind),
                         problems.first_offset(kind), problems.explanation(kind));
  return words;
}

std::string words_of(const MergeSummary& summary) {
  std::string words =
      fmt::format("{} events, {} filtered, {} of text, {} shared, {} ranks", summary.events,
                  summary.filtered, summary.text_bytes, summary.shared_flows, summary.ranks);
  for (const MergedFile& file : summary.files)
    words += fmt::format("\n{}: {} {} of {}, offset {}:{}", file.path, file.rank, file.events,
                         file.events_in, file.clock.offset_ns, words_of(file.problems));
  for (const LeftOut& file : summary.left_out) words += "\nleft out: " + file.error;
  for (const RepeatedInput& file : summary.repeats)
    words += "\nrepeated: " + file.path + words_of(file.problems);
  for (const MergedProcess& process : summary.processes)
    words += fmt::format("\n{} {} {}", process.rank, process.name, process.tracks.size());
  if (!summary.filter) return words;
  words += fmt::format("\nlast {}", summary.filter->last_ns);
  for (const std::string& category : summary.filter->categories) words += " " + category;
  return words + (summary.filter->nothing_left ? " nothing left" : "");
}

Outcome merge_alone(MergeOptions options) {
  Outcome outcome;
  try {
    outcome.summary = words_of(merge_traces(options));
  } catch (const std::exception& error) {
    outcome.summary = error.what();
  }
  if (fs::exists(options.output)) outcome.text = read_file(options.output);
  return outcome;
}

Outcome merge_by_team(const MergeOptions& options, std::size_t processes) {
  Outcome outcome;
  try {
    run_as_team(processes, [&](Team& team) {
      MergeOptions own = options;
      own.team = &team;
      const MergeSummary summary = merge_traces(own);
      if (team.is_first()) outcome.summary = words_of(summary);
    });
  } catch (const std::exception& error) {
    outcome.summary = error.what();
  }
  if (fs::exists(options.output)) outcome.text = read_file(options.output);
  return outcome;
}

std::size_t entries_of(const std::string& folder) {
  const fs::directory_iterator entries(folder);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

// Merges alone and by teams, plain and as gzip.
void check_teams(const MergeOptions& options) {
  for (const char* const name : {"out.json", "out.json.gz"}) {
    const TemporaryFolder folder;
    MergeOptions own = options;
    own.output = folder.path(name);
    const Outcome alone = merge_alone(own);
    const std::size_t entries = entries_of(folder.path());
    for (const std::size_t processes : of_today(std::vector<std::size_t>{3, 1, 2, 5, 8})) {
      CAPTURE(name);
      CAPTURE(processes);
      fs::remove(own.output);
      const Outcome by_team = merge_by_team(own, processes);
      CHECK(by_team.summary == alone.summary);
      CHECK(by_team.text == alone.text);
      CHECK(entries_of(folder.path()) == entries);
    }
  }
}

MergeOptions options_for(const std::string& folder) {
  MergeOptions options;
  options.inputs = expand_inputs({std::string(TRACELOOM_SOURCE_DIR "/testdata/") + folder});
  options.threads = 1;
  options.keep_going = true;
  return options;
}

std::string message_by_team(const MergeOptions& options) {
  return merge_by_team(options, 2).summary;
}

}  // namespace

TEST_CASE("team_merge: the same bytes, whatever is asked for") {
  for (const std::string& folder :
       of_today(std::vector<std::string>{"cycles", "devices", "merge/ok", "straggler", "broken"})) {
    CAPTURE(folder);
    MergeOptions options = options_for(folder);
    check_teams(options);
    options.plan.pids = PidLayout::split;
    options.plan.shared_flows = {"ac2g", "rpc"};
    check_teams(options);
    options.filter.min_duration_ns = 2000;
    check_teams(options);
    options.filter.ranks = {{0, 1}};
    options.filter.time = TimeSelection{.from_ns = 0, .to_ns = 1'000'000};
    check_teams(options);
    options.filter = {};
    options.filter.ranks = {{1, 1}};
    check_teams(options);
  }
}

TEST_CASE("team_merge: names, categories, and a filter that keeps nothing") {
  MergeOptions options = options_for("merge/ok");
  options.filter.labels.categories = {"kernel"};
  check_teams(options);
  options.filter.labels.categories = {"no such category"};
  check_teams(options);
}

TEST_CASE("team_merge: the lowest file that fails is reported, and nothing is left") {
  MergeOptions options = options_for("broken");
  options.keep_going = false;
  check_teams(options);
}

TEST_CASE("team_merge: an arrow from file to file has one id, whoever writes its ends") {
  const TemporaryFolder folder;
  NamedTexts files;
  for (int rank = 0; rank < 6; ++rank)
    files.emplace_back(
        fmt::format("rank{}.json", rank),
        fmt::format(R"([{{"ph":"{}","name":"call","cat":"rpc","id":{},"pid":1,"tid":1,"ts":{}}},
                        {{"ph":"s","name":"lost","cat":"rpc","id":{},"pid":1,"tid":1,"ts":9}}])",
                    rank % 2 == 0 ? 's' : 'f', rank / 2, rank == 3 ? 0 : 5 + rank, 100 + rank));
  MergeOptions options = merge_options(folder, files, "out.json");
  options.plan.shared_flows = {"rpc"};
  options.plan.clock.align_by = AlignBy::none;
  check_teams(options);
}

TEST_CASE("team_merge: the limit on threads holds for all files together") {
  const TemporaryFolder folder;
  NamedTexts files;
  for (int rank = 0; rank < 7; ++rank) {
    std::string text = "[";
    for (int tid = 1; tid <= (rank == 3 ? 9 : 4); ++tid)
      text += fmt::format(R"({{"ph":"X","name":"a","pid":1,"tid":{},"ts":{},"dur":1}},)", tid, tid);
    text.back() = ']';
    files.emplace_back(fmt::format("rank{}.json", rank), text);
  }
  MergeOptions options = merge_options(folder, files, "out.json");
  options.max_tracks = 18;
  check_teams(options);
  CHECK(merge_alone(options).summary.find(
            "rank3.json: has more than 18 threads, together with the 12 of the inputs before it") !=
        std::string::npos);
  options.keep_going = true;
  check_teams(options);
  options.max_tracks = 8;
  check_teams(options);
}

TEST_CASE("team_merge: what only one process can do is refused") {
  MergeOptions options = options_for("merge/ok");
  const TemporaryFolder folder;
  options.output = folder.path("out.json");
  options.plan.sort_by_time = true;
  CHECK(message_by_team(options) == "--sort does not run with --mpi yet");
  options.plan.sort_by_time = false;
  options.format = MergeFormat::perfetto_tar;
  CHECK(message_by_team(options) == "--format perfetto-tar does not run with --mpi yet");
  options.format = MergeFormat::json;
  options.output = "-";
  CHECK(message_by_team(options) ==
        "-o -: with --mpi several processes write the output, so it must be a regular file");
  options.output = folder.path("no folder/out.json");
  CHECK(message_by_team(options) == options.output + ": the directory " + folder.path("no folder") +
                                        " does not exist; create it first");
  CHECK(folder.entry_count() == 0);
}

TEST_CASE("team_merge: the old output stays if a file fails") {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder,
                                       {{"rank0.json", rank_text(0, "1000", 1007)},
                                        {"rank1.json", rank_text(1, "2000", 2007)},
                                        {"rank2.json", "no trace"}},
                                       "out.json");
  folder.write("out.json", "old");
  const Outcome outcome = merge_by_team(options, 3);
  CHECK(outcome.summary.starts_with(folder.path("rank2.json") + ": "));
  CHECK(outcome.text == "old");
  CHECK(folder.entry_count() == 4);
}
