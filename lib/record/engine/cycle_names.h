// CycleNames: the paths of the files of a session's cycles.
//
//   CycleNames names(options, status);
//   names.path_at(position)                  // "traces/ep0-ba8-rank2.json"
//   names.final_path_at(position, is_rest)
//   names.end_cycle(position);
#pragma once

#include "record/engine/status_board.h"
#include "record/session.h"

#include <optional>
#include <set>
#include <string>

namespace traceloom::record {

// Only the writer's thread may use it.
class CycleNames {
 public:
  CycleNames(const Options& options, StatusBoard& status) : options_(options), status_(status) {}

  std::string path_at(const Position& position);
  // A later cycle may replace a file of this session, if the program gives both the same name. A
  // rest, or a cycle that is closed in its first batch, must not: it comes with the name of the one
  // before.
  std::string final_path_at(const Position& position, bool is_rest);
  // Notes the path that a file has got.
  void add_own(const std::string& path);
  void end_cycle(const Position& position) { last_end_ = position; }

 private:
  bool is_at_last_end(const Position& position) const;

  const Options& options_;
  StatusBoard& status_;
  std::optional<Position> last_end_;  // the end of the cycle before
  std::set<std::string> own_paths_;   // paths of the files so far, if files may be overwritten
};

}  // namespace traceloom::record
