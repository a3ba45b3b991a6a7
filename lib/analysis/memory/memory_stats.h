// Memory stats: the per-rank files of finetuning-scheduler's MemProfiler, and of our recorder.
//
//   for (const MemorySnapshot& one : read_memory_stats("rank_0_memory_stats.yaml").snapshots) ...
//
// A file is a mapping (YAML, or JSON, which is YAML) of "rank.function.iteration.start" and
// "rank.function.iteration.end" to what was measured there: {"rss": 1234, "vms": 5678, ...}. What
// Python dumped with its object tags (a defaultdict) is such a mapping under "dictitems".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

struct MemorySnapshot {
  std::int64_t rank = 0;
  std::string function;
  std::int64_t iteration = 0;
  bool at_end = false;
  std::map<std::string, double> values;
};

struct MemoryStatsFile {
  std::string path;
  std::vector<MemorySnapshot> snapshots;
  // What was left out: entries whose key has another form, values that are no numbers, and the last
  // line of a file that was cut in it.
  std::uint64_t left_out = 0;
  bool is_cut = false;
};

// "rank_0_memory_stats.yaml", also .yml and .json, at the end of a path.
bool is_memory_stats_name(const std::string& path);

// Throws Error when the file cannot be read or is no such mapping.
MemoryStatsFile read_memory_stats(const std::string& path);
// The same of a text; `path` is for messages.
MemoryStatsFile parse_memory_stats(const std::string& path, std::string text);

// Takes the files of that name, and every .yaml and .yml file, out of the arguments of a command;
// of a folder those in it and below it. A folder without any trace is taken out as a whole.
std::vector<std::string> take_memory_stats(std::vector<std::string>& arguments);

// A value of a function over iterations and ranks.
struct MemoryStatsRow {
  std::string function;
  std::string value;
  std::optional<std::int64_t> rank;  // where rows are by rank
  std::int64_t ranks = 0;
  std::int64_t iterations = 0;  // of the rank with most
  // Means over ranks of means over iterations; what is told at one end only has no difference.
  std::optional<double> start;
  std::optional<double> end;
  std::optional<double> difference;
  // The means of the ranks with the least and the most, at the end or else at the start.
  double least = 0;
  double most = 0;
  std::int64_t most_rank = 0;
  // An iteration: the slope of the values at the end, mean over the ranks with two and more.
  std::optional<double> growth;
};

struct MemoryStatsOptions {
  bool by_rank = false;  // one row a rank
  bool all = false;      // also what is always 0, and torch's pools by size
};

std::vector<MemoryStatsRow> compare_memory_stats(const std::vector<MemoryStatsFile>& files,
                                                 const MemoryStatsOptions& options);

// Whether a value of that name is bytes: rss, vms, npp, ..._bytes.all.current.
bool is_bytes_value(const std::string& value);

}  // namespace traceloom
