#include "identity/repeats/file_reading.h"

#include "identity/repeats/repeats.h"

#include <algorithm>
#include <limits>

namespace traceloom {
namespace {

std::int64_t first_rank(const FileFacts& file) {
  if (file.rank) return *file.rank;
  return file.ranks.empty() ? std::numeric_limits<std::int64_t>::max() : file.ranks.front();
}

}  // namespace

void FileReading::end(const FileEnd& file_end) {
  evidence.add_top_level(file_end.top_level);
  problems.add(file_end.problems);
  problems.add(evidence.problems);
  events = file_end.events;
  text_bytes = file_end.text_bytes;
}

void mark_repeats(const std::vector<Input>& inputs, const std::vector<FileReading*>& files) {
  std::vector<InputEvidence> readable;
  std::vector<FileReading*> readings;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!files[i]->error.empty()) continue;
    readable.push_back({inputs[i], files[i]->evidence});
    readings.push_back(files[i]);
  }
  for (const Repeat& repeat : find_repeats(readable)) {
    readings[repeat.file]->is_repeat = true;
    readings[repeat.file]->problems = repeat.problems();
  }
}

void count_outliers(const StartTimes& starts, const TimeMap& times, ProblemCounts& problems) {
  const StartTimes::Outliers outliers = starts.outliers();
  if (outliers.events > 0)
    problems.add(Problem::outlying_timestamp, outliers.first_offset, outliers.events);
  for (const StartTimes::Range& range : {starts.relative(), starts.unix_time()}) {
    std::int64_t ignored = 0;
    if (!range.empty() && range.events > 0 && !times.map(range.first, ignored))
      problems.add(Problem::outlying_timestamp, 0, range.events);
  }
}

FileFacts describe_file(const std::string& path, const FileReading& file, const FileRank& rank) {
  FileFacts facts{.path = path, .error = file.error};
  if (!file.error.empty()) return facts;
  facts.problems = file.problems;
  facts.is_repeat = file.is_repeat;
  if (file.is_repeat) return facts;
  if (rank.is_merged())
    facts.ranks = rank.ranks();
  else
    facts.rank = rank.rank;
  facts.events = file.events;
  facts.text_bytes = file.text_bytes;
  facts.problems.add(rank.problems);
  return facts;
}

void stop_at(const Error& error, std::size_t files) {
  if (files > 1) throw with_advice(error, "--keep-going leaves it out");
  throw error;
}

bool is_reported_before(const FileFacts& a, const FileFacts& b) {
  if (a.error.empty() != b.error.empty()) return a.error.empty();
  if (first_rank(a) != first_rank(b)) return first_rank(a) < first_rank(b);
  return natural_less(a.path, b.path);
}

}  // namespace traceloom
