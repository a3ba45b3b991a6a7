// Inputs as they were read, for functions that take InputReading.
#pragma once

#include "identity/evidence/file_reading.h"

#include <vector>

namespace traceloom {

struct ReadInputs {
  std::vector<Input> inputs;
  std::vector<FileReading> readings;

  void add(const Input& input, const FileEvidence& evidence, const StartTimes& starts = {}) {
    inputs.push_back(input);
    readings.push_back({.evidence = evidence, .starts = starts});
  }
  // Valid as long as nothing is added.
  std::vector<InputReading> all() const {
    std::vector<InputReading> files;
    for (std::size_t i = 0; i < inputs.size(); ++i) files.push_back({inputs[i], readings[i]});
    return files;
  }
};

}  // namespace traceloom
