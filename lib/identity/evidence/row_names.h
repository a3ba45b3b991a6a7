// RowNames: the names that a file gives its rows. Metadata may follow the events to which it
// belongs, so rows have names only at the end of the file.
//
//   RowNames names;
//   for (each event of phase M) names.add(event);
//   names.append(names_of_the_next_chunk);
//   names.row("1", "13").process                              // "/device:GPU:0"
#pragma once

#include "event/event.h"

#include <map>
#include <string>
#include <utility>

namespace traceloom {

struct RowName {
  std::string process;
  std::string thread;
};

class RowNames {
 public:
  // Uses process_name, process_labels and thread_name and ignores all other metadata. The last
  // event of each kind counts. In a merge of ours the name of a thread contains the name of its
  // process in its file.
  void add(const Event& event);
  void append(const RowNames& later);
  void clear();
  // Whether a row is one of a device by the table of producers (event/device_rows.h).
  bool has_device_rows() const;

  // Returns decoded names; `pid` and `tid` are results of canonical_id(). A process without a name
  // in the metadata is called by its pid if that is a string. A process whose labels are those of a
  // device ("NPU") and whose own name has no meaning is called by the labels.
  RowName row(const std::string& pid, const std::string& tid) const;
  bool is_device_row(const std::string& pid, const std::string& tid) const;

 private:
  struct Process {
    std::string name;
    std::string labels;
  };
  std::map<std::string, Process> processes_;                        // keyed by pid
  std::map<std::pair<std::string, std::string>, RowName> threads_;  // keyed by pid and tid
};

}  // namespace traceloom
