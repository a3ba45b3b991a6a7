// A merge of real files, held against its inputs event by event.
//
//   const CheckedMerge merge({"rank0.json", "rank1.json.gz"});
//   for (const std::string& fault : merge.faults()) ...
//   for (const EventMatch& match : merge.matches()) ...
#pragma once

#include "merge/merger.h"
#include "oracle/json_value.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// An event of an input and what became of it.
struct EventMatch {
  std::size_t file;   // number of the input
  std::size_t index;  // number of the event in the file's list
  const oracle::Json* input;
  const oracle::Json* output;
};

class CheckedMerge {
 public:
  explicit CheckedMerge(const std::vector<std::string>& paths, PidLayout pids = PidLayout::rank,
                        AlignBy align_by = AlignBy::any);

  // The faults of the output: it is not strict JSON, times are out of range, an event is missing or
  // belongs to no input, a row has no name or two, a row holds two threads of a file, flows are
  // torn or join two files. The list has only a few faults of each kind.
  const std::vector<std::string>& faults() const { return faults_; }
  // All events except metadata and stray ends, in the order in which the files are written.
  const std::vector<EventMatch>& matches() const { return matches_; }
  const MergeSummary& summary() const { return summary_; }
  std::int64_t base_ns() const { return base_ns_; }
  // End events without a begin that the merge has left out of the file.
  std::size_t left_out(std::size_t file) const { return left_out_[file]; }
  // Number of B and E pairs that became one slice although begin and end events were kept.
  std::int64_t joined_pairs() const { return joined_pairs_; }

 private:
  std::vector<std::size_t> order_of_files() const;
  void match_events();
  std::multimap<std::string, const oracle::Json*> take_joined();
  std::int64_t start_of(std::size_t file, const oracle::Json& event) const;
  std::optional<std::size_t> find_written(const oracle::Json& event, std::int64_t start_ns,
                                          std::size_t due) const;
  void check_times();
  void check_names();
  void check_rows();
  void check_flows();

  std::string text_;
  MergeSummary summary_;
  std::int64_t base_ns_ = 0;
  std::vector<oracle::Json> inputs_;
  oracle::Json output_;
  std::vector<const oracle::Json*> written_;  // events of the output, without metadata
  std::vector<bool> taken_;                   // true for output events that are matched
  std::vector<EventMatch> matches_;
  std::vector<std::size_t> left_out_;
  std::int64_t joined_pairs_ = 0;
  std::vector<std::string> faults_;
};

// The text of a member, "" when there is none.
std::string text_of(const oracle::Json& object, std::string_view key);
// ts or dur in nanoseconds; 0 when there is none that is a number.
std::int64_t ns_of(const oracle::Json& event, std::string_view key);
// One line a fault, for messages.
std::string joined(const std::vector<std::string>& faults);
// The reference traces; empty, with a word on stdout, when they are not there.
std::filesystem::path reference_traces();

}  // namespace traceloom
