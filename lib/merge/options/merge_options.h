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

// Of all inputs, unless more are asked for. The input with which there are more is refused: what is
// known of a track takes some 1.8 KB until the merge is done, and whoever gives each request a tid
// of its own could have a billion. So many take 180 MiB.
inline constexpr std::size_t kMostTracks = 100'000;
// Of one input, at a time, unless more are asked for: each is held whole, with what its slice may
// need, in 1.3 KB when it is an ordinary one. So many take 190 MiB.
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
  std::map<std::string, std::string> known_as = {};  // by path: what the output calls an input
  std::string output;  // "-" is stdout; a name that ends in .gz or .tgz is written as gzip
  MergeFormat format = MergeFormat::json;
  unsigned threads = 0;                          // 0: as many as there are cores
  std::optional<std::uint64_t> max_memory = {};  // bytes; see plan_memory()
  int gzip_level = kMergeGzipLevel;
  std::size_t max_tracks = kMostTracks;
  std::size_t max_open_begins = kMostOpenBegins;
  PlanOptions plan = {};
  MergeFilter filter = {};  // what is to be kept
  bool dry_run = false;     // say what would be done, and write nothing
  bool keep_going = false;  // leave out an input that is no trace instead of stopping
  // Surveys all inputs before it writes, even where samples of them may tell enough. The same bytes
  // come out, slower; for tests and comparisons.
  bool always_survey = false;
  // Ends the merge without a word when the reader of stdout is gone (ClosedPipe), or goes on
  // without writing: for who wants to know what was wrong with the inputs all the same.
  bool outlives_reader = false;
  // Called when all of the output is on disk, before it takes the place of the old one: what this
  // throws leaves the old one.
  std::function<void(const MergeSummary&)> before_replacing = {};
  // Bytes of the inputs (as stored) read so far, and in all: once all of them, and when a second
  // pass turns out to be needed twice. Any thread, one at a time.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

}  // namespace traceloom
