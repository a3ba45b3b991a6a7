// CaptureReader: reads the captures that arguments of compare and baseline stand for.
//
//   CaptureReader reader({.output = "-"});
//   const SideCaptures base = reader.read({"base/"});
//
// One capture is read after the other, so that the events of only one are in memory.
#pragma once

#include "common/report_problems.h"
#include "comparison/captures/capture.h"

#include <string>
#include <vector>

namespace traceloom {

// The options of a command that reads captures.
struct CaptureReading {
  std::string output = "-";
  unsigned threads = 0;
  bool keep_going = false;
  Verbosity verbosity = Verbosity::normal;
};

struct SideCaptures {
  std::vector<Capture> captures;
  std::vector<std::vector<double>> history;  // of the older versions in baselines
};

class CaptureReader {
 public:
  explicit CaptureReader(CaptureReading options) : options_(std::move(options)) {}

  // An argument is a baseline, a folder whose folders are captures, or a capture.
  SideCaptures read(const std::vector<std::string>& arguments);
  // True if a part of an input was lost.
  bool has_loss() const { return has_loss_; }

 private:
  Capture read_one(const std::string& path);

  CaptureReading options_;
  bool has_loss_ = false;
};

}  // namespace traceloom
