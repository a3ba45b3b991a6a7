#include "survey/file_reading.h"

#include "input/input_list.h"

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

FileFacts describe_file(const std::string& path, const FileReading& file, const FileRank& rank) {
  FileFacts facts{.path = path, .error = file.error};
  if (!file.error.empty()) return facts;
  if (rank.is_merged())
    facts.ranks = rank.ranks();
  else
    facts.rank = rank.rank;
  facts.events = file.events;
  facts.text_bytes = file.text_bytes;
  facts.problems = file.problems;
  facts.problems.add(rank.problems);
  return facts;
}

void stop_at(const Error& error, std::size_t files) {
  if (files > 1) throw with_advice(error, "--keep-going leaves it out");
  throw error;
}

bool is_told_before(const FileFacts& a, const FileFacts& b) {
  if (a.error.empty() != b.error.empty()) return a.error.empty();
  if (first_rank(a) != first_rank(b)) return first_rank(a) < first_rank(b);
  return natural_less(a.path, b.path);
}

}  // namespace traceloom
