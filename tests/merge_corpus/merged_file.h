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
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
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
  // `change` may change the text of the merge before it is checked, to test the checks.
  explicit CheckedMerge(const std::vector<std::string>& paths, PidLayout pids = PidLayout::rank,
                        AlignBy align_by = AlignBy::any,
                        const std::function<void(std::string& text)>& change = {});

  // The faults of the output: it is not strict JSON, times are out of range, an event is missing or
  // belongs to no input, a row has no name or two, a row holds two threads of a file, flows are
  // torn or join two files. The list has only a few faults of each kind.
  const std::vector<std::string>& faults() const { return faults_; }
  // All events except metadata and ends (E), in the order in which the files are written. What
  // became of a begin (B) is the slice that it makes with its end.
  const std::vector<EventMatch>& matches() const { return matches_; }
  const MergeSummary& summary() const { return summary_; }
  std::int64_t base_ns() const { return base_ns_; }
  // End events without a begin that the merge has left out of the file.
  std::size_t left_out(std::size_t file) const { return left_out_[file]; }
  // Number of B and E pairs that became one slice.
  std::int64_t joined_pairs() const { return joined_pairs_; }

 private:
  std::vector<std::size_t> order_of_files() const;
  // A slice that the merge writes when it knows its end: of a B and its E, or of a B or an X whose
  // end the file does not say.
  struct JoinedSlice {
    std::size_t file;
    std::size_t index;  // number of the B or X in the file's list
    const oracle::Json* begin;
    std::optional<std::int64_t> duration_ns;  // none: the file does not say it

    bool is_complete() const;  // it is an X
  };
  // The slices of one name and start: of the inputs, and of the output.
  struct SameStart {
    std::vector<JoinedSlice> joined;
    std::size_t others = 0;  // other X events of the inputs
    std::vector<const oracle::Json*> written;
  };
  std::map<std::string, SameStart> slices_by_start();
  void match_joined();
  void find_rows(const std::map<std::string, SameStart>& slices);
  void set_row(std::size_t file, const std::string& thread, const std::string& row);
  void take_joined(const JoinedSlice& slice, std::vector<const oracle::Json*>& written);
  bool is_on_row_of(const JoinedSlice& slice, const oracle::Json& written) const;
  void match_events();
  const oracle::Json* take_loose(const oracle::Json& event, std::int64_t start_ns);
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
  // What has become of each JoinedSlice, by its file and number.
  std::map<std::pair<std::size_t, std::size_t>, const oracle::Json*> joined_;
  // The rows of the output to which the threads of a file with B events have gone, and back.
  std::map<std::pair<std::size_t, std::string>, std::string> row_of_thread_;
  std::map<std::pair<std::size_t, std::string>, std::string> thread_of_row_;
  // X events by name and start that may change places with those, and so may stand anywhere.
  std::multimap<std::string, const oracle::Json*> loose_;
  std::vector<const oracle::Json*> written_;  // all other events of the output but metadata
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
