// A Run of traces that a test has written.
//
//   Run run = read_texts({{"rank0.json", TraceText().cat("kernel").x("gemm", 1, 5).array()}});
#pragma once

#include "run/run.h"
#include "support/temporary_folder.h"

#include <string>
#include <utility>
#include <vector>

namespace traceloom {

inline Run read_texts(const std::vector<std::pair<std::string, std::string>>& files,
                      RunRequest request = {}) {
  const TemporaryFolder folder;
  for (const auto& [name, text] : files)
    request.inputs.push_back({folder.write(name, text), std::nullopt});
  return read_run(request);
}

// Reads paths of testdata or of any other folder.
inline Run read_paths(const std::vector<std::string>& paths, RunRequest request = {}) {
  for (const std::string& path : paths) request.inputs.push_back({path, std::nullopt});
  return read_run(request);
}

}  // namespace traceloom
