// CaptureReader: reads the captures that arguments of compare and baseline stand for.
//
//   CaptureReader reader({.output = "-"});
//   const SideCaptures base = reader.read("base", {"base/"});
//
// One capture is read after the other, so that the events of only one are in memory.
#pragma once

#include "common/terminal.h"
#include "comparison/captures/capture.h"
#include "comparison/judge_sides.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

// The options of a command that reads captures.
struct CaptureReading {
  std::string output = "-";
  unsigned threads = 0;
  bool keep_going = false;
  bool memory = false;  // also read the peak of memory
  Verbosity verbosity = Verbosity::normal;
};

struct SideCaptures {
  std::vector<Capture> captures;
  std::vector<std::vector<Capture>> earlier_runs;  // in baselines, before their newest
};

// Puts the baselines in the place of each folder that has some: a store of one file a version.
std::vector<std::string> with_baselines_of_folders(const std::vector<std::string>& arguments);

class CaptureReader {
 public:
  explicit CaptureReader(CaptureReading options) : options_(std::move(options)) {}

  // An argument is a baseline, a folder whose folders are captures, or a capture.
  // Throws UsageError for a capture that a side has already, and for a folder whose folders hold
  // different ranks: they are no captures.
  // Leaves out copies, with a word: a capture that a side has already, or as history one of any
  // side. Counted twice, a capture would make the noise look smaller than it is.
  SideCaptures read(const std::string& side, const std::vector<std::string>& arguments);
  // Reads both sides of a comparison. Of a new side with several runs, the newest is compared. A
  // capture of both sides would hide a change, so that it is left out of the base, unless none
  // would be left there.
  ComparedSides read_sides(const std::vector<std::string>& base,
                           const std::vector<std::string>& changed);
  // Takes these for captures that the side has already.
  void know(const std::string& side, const std::vector<Capture>& captures);
  // Returns the paths from which the side's capture of that name was read; none if it came from a
  // baseline.
  std::vector<std::string> paths_of(const std::string& side, const std::string& name) const;
  // True if a part of an input was lost.
  bool has_loss() const { return has_loss_; }

 private:
  // Profiling cycles of one process are one capture, of several paths.
  std::vector<Capture> read_all(const std::string& side, const std::vector<std::string>& paths);
  Capture read_one(const std::vector<std::string>& paths);
  // Returns the name of the capture of which this one is a copy, or nullptr.
  const std::string* copied_by(const std::string& side, const Capture& capture) const;
  void leave_out_new_ones(ComparedSides& sides) const;
  void drop_copies(const std::string& side, std::vector<Capture>& captures);

  CaptureReading options_;
  std::set<std::pair<std::string, std::string>> seen_;  // sides and captures
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> paths_;  // by the same
  // The captures read so far, of each side one, by the last part of their name and their steps.
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::map<std::string, std::string>>
      known_;
  bool has_loss_ = false;
};

}  // namespace traceloom
