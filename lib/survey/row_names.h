// RowNames: what a file calls its rows. Metadata may stand behind the events that it is about, so
// rows have names only once the file has been read to its end.
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
  // process_name, process_labels and thread_name; all else is left alone. Of several the last one
  // counts. In a merge of ours the name of a thread holds what its file calls its process.
  void add(const Event& event);
  void append(const RowNames& later);
  void clear();
  // Whether a row is one of a device by the table of producers (event/device_rows.h).
  bool has_device_rows() const;

  // Decoded; pid and tid: canonical_id(). A process that no metadata names has the name that its
  // pid is, where that is a string. A process whose labels are those of a device ("NPU"), and
  // whose name tells nothing, is called by them.
  RowName row(const std::string& pid, const std::string& tid) const;
  bool is_device_row(const std::string& pid, const std::string& tid) const;

 private:
  struct Process {
    std::string name;
    std::string labels;
  };
  std::map<std::string, Process> processes_;                        // by pid
  std::map<std::pair<std::string, std::string>, RowName> threads_;  // by pid and tid
};

}  // namespace traceloom
