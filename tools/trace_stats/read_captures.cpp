#include "trace_stats/read_captures.h"

#include "analysis/report.h"
#include "base/error.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/say.h"
#include "comparison/captures/baseline.h"
#include "input/input_list.h"
#include "trace_stats/command_output.h"
#include "trace_stats/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>

namespace traceloom {
namespace {

// A path of the command line, or one of the captures in it.
using Paths = std::vector<std::string>;

bool has_traces(const std::filesystem::path& folder) {
  try {
    return !expand_inputs({folder.string()}).empty();
  } catch (const std::exception&) {
    return false;
  }
}

// Returns the captures that an argument stands for: the sub-folders of a folder if they have
// traces, otherwise itself.
Paths captures_in(const std::string& argument) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(argument)) return {argument};
  Paths folders;
  std::size_t files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(argument)) {
    if (entry.is_directory() && has_traces(entry.path()))
      folders.push_back(entry.path().string());
    else if (!entry.is_directory())
      ++files;
  }
  if (folders.empty()) return {argument};
  std::sort(folders.begin(), folders.end(), natural_less);
  if (files > 0)
    say(kToolName, Tone::note,
        fmt::format("{}: its {} folders are captures; {} beside them {} left out", argument,
                    folders.size(), count_of(files, "file"), files == 1 ? "is" : "are"));
  return folders;
}

}  // namespace

Capture CaptureReader::read_one(const std::string& path) {
  RunRequest request;
  request.inputs = find_inputs(kToolName, {path}, options_.keep_going);
  refuse_input_as_output(request.inputs, options_.output);
  request.shapes = true;
  request.python = true;
  request.keep_going = options_.keep_going;
  request.threads = options_.threads;
  const std::uint64_t total = stored_bytes(request.inputs);
  Progress progress(path);
  request.progress = [&](std::uint64_t bytes) { progress.show(bytes, total); };
  const Run run = read_run(request);
  has_loss_ |= report_files(run.files, options_.verbosity);
  return make_capture(run, path);
}

SideCaptures CaptureReader::read(const Paths& arguments) {
  SideCaptures side;
  for (const std::string& argument : arguments) {
    if (is_baseline(argument)) {
      Baseline baseline = read_baseline(argument);
      for (OlderVersion& version : baseline.older)
        side.history.push_back(std::move(version.numbers));
      for (Capture& capture : baseline.captures) side.captures.push_back(std::move(capture));
      continue;
    }
    for (const std::string& path : captures_in(argument)) side.captures.push_back(read_one(path));
  }
  return side;
}

}  // namespace traceloom
