// MergeOptions: what to merge, where to, and how.
#pragma once

#include "input/input_list.h"
#include "merge/options/merge_filter.h"
#include "merge/options/merge_summary.h"
#include "merge/options/plan_options.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

class Team;  // team/team.h

// The most tracks that all inputs may have, unless more are asked for; the input that exceeds this
// is refused. What is known of a track takes some 1.8 KB until the merge is done, and a program
// that gives each request a tid of its own could have a billion. So many take 180 MiB.
inline constexpr std::size_t kMostTracks = 100'000;
// The most begin events that one input may have open at a time, unless more are asked for. Each is
// held whole, with what its slice may need; an ordinary one takes 1.3 KB. So many take 190 MiB.
inline constexpr std::size_t kMostOpenBegins = 150'000;

// What kind of file a merge writes.
enum class MergeFormat : std::uint8_t {
  json,          // one Chrome JSON trace
  perfetto_tar,  // a trace a rank and a manifest, for Perfetto; see rank_archive.h
};
// "json", "perfetto-tar".
std::optional<MergeFormat> parse_merge_format(std::string_view name);
// perfetto_tar for names that end in .tar, .tar.gz or .tgz, in any case of letters.
MergeFormat format_of_name(std::string_view path);

// output/gzip_sink.h says what the levels cost.
inline constexpr int kMergeGzipLevel = 1;

struct MergeOptions {
  std::vector<Input> inputs;
  std::map<std::string, std::string> known_as = {};  // key: path; value: what the output calls it
  std::string output;  // "-" is stdout; a name that ends in .gz or .tgz is written as gzip
  MergeFormat format = MergeFormat::json;
  unsigned threads = 0;                          // 0: as many as there are cores
  std::optional<std::uint64_t> max_memory = {};  // bytes; see plan_memory()
  int gzip_level = kMergeGzipLevel;
  std::size_t max_tracks = kMostTracks;
  std::size_t max_open_begins = kMostOpenBegins;
  PlanOptions plan = {};
  MergeFilter filter = {};  // what is kept
  bool dry_run = false;     // report what would be done, and write nothing
  bool keep_going = false;  // leave out an input that is no trace instead of stopping
  // Surveys all inputs before it writes, even if samples of them would be enough. The same bytes
  // come out, slower; for tests and comparisons.
  bool always_survey = false;
  // The processes that merge together, all with these options; nullptr: this one alone. They write
  // a file, and the bytes that one process would write.
  Team* team = nullptr;
  // Decides what happens when the reader of stdout is gone. False: the merge ends silently
  // (ClosedPipe). True: it goes on without writing, so that the problems of the inputs are still
  // reported.
  bool outlives_reader = false;
  // Called when all of the output is on disk, before it replaces the old one. If it throws, the old
  // one stays.
  std::function<void(const MergeSummary&)> before_replacing = {};
  // Called with the bytes of the inputs (as stored) read so far, and the total: the size of all
  // inputs, or twice that once a second pass turns out to be needed. Any thread may call, one at a
  // time.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

}  // namespace traceloom
