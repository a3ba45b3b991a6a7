#include "trace_stats/read_captures.h"

#include "analysis/devices/device_work.h"
#include "analysis/report.h"
#include "base/problems.h"
#include "base/units.h"
#include "common/command_line.h"
#include "common/run_tool.h"
#include "common/terminal.h"
#include "comparison/captures/baseline.h"
#include "comparison/judge/judge.h"
#include "input/input_list.h"
#include "trace_stats/commands.h"
#include "trace_stats/write_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace traceloom {
namespace {

// The side whose captures show the noise and nothing else.
constexpr std::string_view kHistorySide = "history";

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
                    plural(files, "is", "are")));
  return folders;
}

// Returns who wrote a file of torch.profiler, "host_4711" of
// "host_4711.1700000000000.pt.trace.json"; "" for other names.
std::string writer_of(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  if (name.find(".pt.trace.json") == std::string::npos) return "";
  const std::string writer = name.substr(0, name.find('.'));
  const std::size_t digits = writer.find_last_not_of("0123456789");
  const bool has_pid =
      digits != std::string::npos && digits + 1 < writer.size() && writer[digits] == '_';
  return has_pid ? writer : "";
}

std::set<std::string> writers_of(const std::string& path) {
  std::set<std::string> writers;
  try {
    for (const Input& input : expand_inputs({path}))
      if (std::string writer = writer_of(input.path); !writer.empty())
        writers.insert(std::move(writer));
  } catch (const std::exception&) {
    // Reading it says what is wrong.
  }
  return writers;
}

// Returns the paths of each capture: cycles of one process share its clocks, heat and place, so
// several of them show nothing of the noise between captures.
std::vector<Paths> joined_cycles(const Paths& paths) {
  std::vector<Paths> captures;
  std::map<std::string, std::size_t> capture_of;  // writer
  for (const std::string& path : paths) {
    const std::set<std::string> writers = writers_of(path);
    std::size_t place = captures.size();
    for (const std::string& writer : writers)
      if (const auto known = capture_of.find(writer); known != capture_of.end())
        place = std::min(place, known->second);
    if (place == captures.size()) captures.emplace_back();
    captures[place].push_back(path);
    for (const std::string& writer : writers) capture_of.emplace(writer, place);
  }
  return captures;
}

// Files of two runs in one folder would pass for one capture with the steps of both. All names may
// say that one process wrote the files of a rank; else the ids of its launches tell.
void refuse_several_runs(const Paths& paths, const Run& run) {
  std::set<std::string> writers;
  for (const RunFile& file : run.files) writers.insert(writer_of(file.path));
  const std::vector<std::int64_t> ranks = ranks_of_several_runs(run);
  if (ranks.empty() || (!writers.contains("") && writers.size() <= run.ranks.size())) return;
  throw Error(
      paths.front(),
      fmt::format("{} {} files of several runs (the ids of launches begin again), which are "
                  "no capture: give each run a folder of its own",
                  ranks_words(ranks, RankStyle::option), plural(ranks.size(), "has", "have")));
}

// The name of a folder or file without the way to it, which differs if it was named from elsewhere.
std::string last_part(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(name).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

// Folders of one rank each would pass for captures, and ranks that differ for noise.
void refuse_folders_of_ranks(const std::string& argument, const std::vector<Capture>& captures) {
  std::set<std::int64_t> ranks;
  std::size_t count = 0;
  for (const Capture& capture : captures)
    for (const std::int64_t rank : ranks_in(capture)) {
      ranks.insert(rank);
      ++count;
    }
  if (captures.size() > 1 && count >= captures.size() && ranks.size() == count)
    throw UsageError(
        fmt::format("{}: its folders hold different ranks, so they are no captures; put the files "
                    "of all ranks of a capture into one folder",
                    argument));
}

}  // namespace

Paths with_baselines_of_folders(const Paths& arguments) {
  namespace fs = std::filesystem;
  Paths expanded;
  for (const std::string& argument : arguments) {
    Paths baselines;
    if (fs::is_directory(argument))
      for (const fs::directory_entry& entry : fs::directory_iterator(argument))
        if (entry.is_regular_file() && is_baseline(entry.path().string()))
          baselines.push_back(entry.path().string());
    if (baselines.empty()) baselines.push_back(argument);
    std::sort(baselines.begin(), baselines.end(), natural_less);
    expanded.insert(expanded.end(), baselines.begin(), baselines.end());
  }
  return expanded;
}

Capture CaptureReader::read_one(const Paths& paths) {
  RunRequest request;
  request.inputs = find_inputs(kToolName, paths, options_.keep_going);
  refuse_input_as_output(request.inputs, options_.output);
  request.shapes = true;
  request.python = true;
  request.samples = options_.memory;
  request.keep_going = options_.keep_going;
  request.threads = options_.threads;
  const std::uint64_t total = stored_bytes(request.inputs);
  Progress progress(paths.front());
  request.progress = [&](std::uint64_t bytes) { progress.show(bytes, total); };
  request.team = &tool_team();
  request.spread = true;
  const Run run = read_run(request);
  if (tool_team().is_first()) has_loss_ |= report_files(run.files, options_.verbosity);
  refuse_several_runs(paths, run);
  return make_capture(run, paths.front());
}

std::vector<Capture> CaptureReader::read_all(const std::string& side, const Paths& paths) {
  for (const std::string& path : paths)
    if (!seen_.emplace(side, std::filesystem::weakly_canonical(path).string()).second)
      throw UsageError(fmt::format("{}: this capture is given twice", path));
  std::vector<Capture> captures;
  for (const Paths& cycles : joined_cycles(paths)) {
    if (cycles.size() > 1)
      say(kToolName, Tone::note,
          fmt::format("{}: they are one capture, because the same processes wrote them",
                      fmt::join(cycles, ", ")));
    captures.push_back(read_one(cycles));
    paths_.emplace(std::pair(side, captures.back().name), cycles);
  }
  return captures;
}

SideCaptures CaptureReader::read(const std::string& side, const Paths& arguments) {
  SideCaptures found;
  Paths paths;
  for (const std::string& argument : with_baselines_of_folders(arguments)) {
    if (!is_baseline(argument)) {
      const Paths inside = captures_in(argument);
      paths.insert(paths.end(), inside.begin(), inside.end());
      continue;
    }
    Baseline baseline = read_baseline(argument);
    for (Capture& capture : baseline.runs.back()) found.captures.push_back(std::move(capture));
    baseline.runs.pop_back();
    for (std::vector<Capture>& run : baseline.runs) found.earlier_runs.push_back(std::move(run));
  }
  std::vector<Capture> captures = read_all(side, paths);
  if (arguments.size() == 1) refuse_folders_of_ranks(arguments.front(), captures);
  for (Capture& capture : captures) found.captures.push_back(std::move(capture));
  for (std::vector<Capture>& run : found.earlier_runs) drop_copies(side, run);
  std::erase_if(found.earlier_runs, [](const auto& run) { return run.empty(); });
  drop_copies(side, found.captures);
  return found;
}

void CaptureReader::leave_out_new_ones(ComparedSides& sides) const {
  const auto is_new = [&](const Capture& capture) { return copied_by("new", capture) != nullptr; };
  const auto leave_out = [&](std::vector<Capture>& captures) {
    for (const Capture& capture : captures)
      if (is_new(capture))
        say(kToolName, Tone::note,
            fmt::format(
                "{}: left out of the base, because {} of the new version is the same capture",
                capture.name, *copied_by("new", capture)));
    std::erase_if(captures, is_new);
  };
  for (std::vector<Capture>& run : sides.earlier_runs) leave_out(run);
  std::erase_if(sides.earlier_runs, [](const auto& run) { return run.empty(); });
  if (!std::ranges::all_of(sides.base, is_new)) leave_out(sides.base);
}

ComparedSides CaptureReader::read_sides(const Paths& base, const Paths& changed) {
  SideCaptures some = read("base", base);
  SideCaptures others = read("new", changed);
  if (!others.earlier_runs.empty())
    say(kToolName, Tone::note,
        fmt::format("{}: the newest of its {} runs is compared", changed.front(),
                    others.earlier_runs.size() + 1));
  ComparedSides sides{std::move(some.captures), std::move(others.captures)};
  sides.earlier_runs = std::move(some.earlier_runs);
  sides.is_by_run = !others.earlier_runs.empty();
  leave_out_new_ones(sides);
  return sides;
}

Paths CaptureReader::paths_of(const std::string& side, const std::string& name) const {
  const auto found = paths_.find({side, name});
  return found == paths_.end() ? Paths() : found->second;
}

void CaptureReader::know(const std::string& side, const std::vector<Capture>& captures) {
  for (const Capture& capture : captures)
    if (are_of_one_capture(capture.steps_ns, capture.steps_ns))
      known_[{last_part(capture.name), capture.steps_ns}].emplace(side, capture.name);
}

const std::string* CaptureReader::copied_by(const std::string& side, const Capture& capture) const {
  const auto known = known_.find({last_part(capture.name), capture.steps_ns});
  if (known == known_.end()) return nullptr;
  const auto of_side = side == kHistorySide ? known->second.begin() : known->second.find(side);
  return of_side == known->second.end() ? nullptr : &of_side->second;
}

void CaptureReader::drop_copies(const std::string& side, std::vector<Capture>& captures) {
  std::vector<Capture> kept;
  for (Capture& capture : captures) {
    if (const std::string* const name = copied_by(side, capture)) {
      say(kToolName, Tone::note,
          fmt::format("{}: left out, because it is the same capture as {}", capture.name, *name));
      continue;
    }
    know(side, {capture});
    kept.push_back(std::move(capture));
  }
  captures = std::move(kept);
}

}  // namespace traceloom
