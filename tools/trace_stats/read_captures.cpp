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
#include <set>
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
        fmt::format("{}: the captures are its {}; {} beside them {} left out", argument,
                    count_of(folders.size(), "folder"), count_of(files, "file"),
                    files == 1 ? "is" : "are"));
  return folders;
}

// Folders of one rank each would pass for captures, and ranks that differ for noise.
void refuse_folders_of_ranks(const std::string& argument, const std::vector<Capture>& captures) {
  std::set<std::int64_t> ranks;
  std::size_t count = 0;
  for (const Capture& capture : captures)
    for (const CaptureRank& rank : capture.ranks) {
      ranks.insert(rank.rank);
      ++count;
    }
  if (captures.size() > 1 && count >= captures.size() && ranks.size() == count)
    throw UsageError(
        fmt::format("{}: its folders hold different ranks, so they are no captures; put the files "
                    "of all ranks of a capture into one folder",
                    argument));
}

}  // namespace

Capture CaptureReader::read_one(const std::string& path) {
  RunRequest request;
  request.inputs = find_inputs(kToolName, {path}, options_.keep_going);
  refuse_input_as_output(request.inputs, options_.output);
  request.shapes = true;
  request.python = true;
  request.samples = options_.memory;
  request.keep_going = options_.keep_going;
  request.threads = options_.threads;
  const std::uint64_t total = stored_bytes(request.inputs);
  Progress progress(path);
  request.progress = [&](std::uint64_t bytes) { progress.show(bytes, total); };
  const Run run = read_run(request);
  has_loss_ |= report_files(run.files, options_.verbosity);
  return make_capture(run, path);
}

SideCaptures CaptureReader::read(const std::string& side, const Paths& arguments) {
  SideCaptures found;
  for (const std::string& argument : arguments) {
    if (is_baseline(argument)) {
      Baseline baseline = read_baseline(argument);
      for (OlderVersion& version : baseline.older)
        found.history.push_back(std::move(version.numbers));
      for (Capture& capture : baseline.captures) found.captures.push_back(std::move(capture));
      continue;
    }
    std::vector<Capture> captures;
    for (const std::string& path : captures_in(argument)) {
      if (!seen_.emplace(side, std::filesystem::weakly_canonical(path).string()).second)
        throw UsageError(fmt::format("{}: this capture is given twice", path));
      captures.push_back(read_one(path));
    }
    refuse_folders_of_ranks(argument, captures);
    for (Capture& capture : captures) found.captures.push_back(std::move(capture));
  }
  return found;
}

}  // namespace traceloom
