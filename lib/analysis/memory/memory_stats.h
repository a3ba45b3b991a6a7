// Reads memory stats: the per-rank files of finetuning-scheduler's MemProfiler and of our recorder.
//
//   for (const MemorySnapshot& one : read_memory_stats("rank_0_memory_stats.yaml").snapshots) ...
//
// A file is a mapping (YAML, or JSON, which is YAML) from "rank.function.iteration.start" and
// "rank.function.iteration.end" to the values measured there: {"rss": 1234, "vms": 5678, ...}. A
// file that Python dumped with its object tags (a defaultdict) has such a mapping under
// "dictitems".
#pragma once

#include "memory/pickle.h"

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
  std::vector<MemorySnapshot> snapshots = {};
  // Number of parts that were left out: entries whose key has another form, values that are no
  // numbers, and the last line of a file that was cut in it.
  std::uint64_t left_out = 0;
  bool is_cut = false;
};

// Throws Error if the file cannot be read or is no such mapping.
MemoryStatsFile read_memory_stats(const std::string& path);
// The same for a text; `path` is for messages.
MemoryStatsFile parse_memory_stats(const std::string& path, std::string text);

// The same for a pickle (rank_0_memory_stats.pickle); true if one of its keys has that form.
bool is_memory_stats(const PickleDocument& document);
MemoryStatsFile read_memory_stats(const PickleDocument& document, const std::string& path);

// A value of a function over iterations and ranks.
struct MemoryStatsRow {
  std::string function;
  std::string value;
  std::optional<std::int64_t> rank;  // set if rows are by rank
  std::int64_t ranks = 0;
  std::int64_t iterations = 0;  // iterations of the rank with the most
  // Means over ranks of means over iterations. A value that is measured at one end only has no
  // difference.
  std::optional<double> start;
  std::optional<double> end;
  std::optional<double> difference;
  // The means of the ranks with the least and the most, at the end or otherwise at the start.
  double least = 0;
  double most = 0;
  std::int64_t most_rank = 0;
  // Growth an iteration: the slope of the values at the end, as mean over the ranks with at least
  // two.
  std::optional<double> growth;
};

struct MemoryStatsOptions {
  bool by_rank = false;  // one row a rank
  bool all = false;      // include values that are always 0, and torch's pools by size
};

std::vector<MemoryStatsRow> compare_memory_stats(const std::vector<MemoryStatsFile>& files,
                                                 const MemoryStatsOptions& options);

// Reads "0.training_step.2.end", and returns false for another form. A function may have points in
// its name; the rank is -1 if the first part is no number.
bool read_moment(std::string_view name, MemorySnapshot& snapshot);

// True if a value with that name is bytes: rss, vms, npp, ..._bytes.all.current.
bool is_bytes_value(const std::string& value);

}  // namespace traceloom
