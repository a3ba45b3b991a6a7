// NodeTrace: the trace that the traces of a node are merged into: one that grows by a cycle at a
// time, or one a cycle.
//
//   NodeTrace trace({.path = NameTemplate("run7/traces/node{node_rank}.json"), .run = run});
//   const NodeTrace::Merged merged = trace.add(position, parts);
//   merged.path     // "run7/traces/node0.json": what it held before, and these
//
// Each merge appears whole or not at all: it is written to a hidden file, which then takes the
// name. A trace that grows is read and written as a whole for each merge.
#pragma once

#include "record/names/name_template.h"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace traceloom {

class NodeTrace {
 public:
  struct Settings {
    // One trace a cycle if it has a place of the training in it ({batch}).
    record::NameTemplate path;
    record::RunIdentity run;
    bool overwrite = false;  // may replace a file that was there before
    int gzip_level = 1;
    unsigned threads = 1;
  };
  explicit NodeTrace(Settings settings) : settings_(std::move(settings)) {}

  bool grows() const { return !settings_.path.tells_positions(); }

  struct Merged {
    std::string path;
    std::uint64_t events = 0;  // without metadata
    std::string problem = {};  // "": it has all that it had before
  };
  // A trace that was saved at `path` and is read at `source`.
  struct Part {
    std::string path;
    std::string source;
  };
  // Adds the traces of a cycle, or of several that end at `at`. Throws Error; then everything is as
  // before.
  Merged add(const record::Position& at, const std::vector<Part>& parts);

 private:
  // A file as it was written.
  struct File {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;
    off_t bytes = 0;

    bool operator==(const File&) const = default;
  };
  static std::optional<File> file_at(const std::string& path);

  Settings settings_;
  std::optional<File> last_;  // set for a trace that grows
};

}  // namespace traceloom
