// An input that is cut while it is read.
//
//   said_of_cut(RunRequest{}, 1, read_run)   // ": the file changed while it was read (...)"
#pragma once

#include "base/problems.h"
#include "support/temporary_folder.h"
#include "support/trace_text.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace traceloom {

inline constexpr char kSaidOfCut[] = ": the file changed while it was read (it had ";

// Reads a trace that is cut to its half when all of it has been read `readings` times, before its
// end is looked at. Returns the message without the path; "" if there is none.
template <typename Request, typename Read>
std::string said_of_cut(Request request, std::uint64_t readings, const Read& read) {
  const TemporaryFolder folder;
  TraceText trace;
  for (int i = 0; i < 50; ++i) trace.x("step", 10 * i, 5);
  const std::string path = folder.write("rank0.json", trace.array());
  const std::uint64_t size = std::filesystem::file_size(path);
  request.inputs = {{path, {}}};
  request.threads = 1;
  request.progress = [path, size, readings, has_cut = false](std::uint64_t bytes) mutable {
    if (has_cut || bytes < readings * size) return;
    has_cut = true;
    std::filesystem::resize_file(path, size / 2);
  };
  try {
    read(request);
  } catch (const Error& error) {
    return std::string(error.what()).substr(path.size());
  }
  return "";
}

}  // namespace traceloom
