#include "record/names/trace_folder.h"

#include "base/error.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace traceloom::record {
namespace {

namespace fs = std::filesystem;

// Part of the name of a file that is being written, before ".json".
constexpr std::string_view kUnfinishedMark = ".unfinished";

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

void check_names(const TraceNames& names, const RunIdentity& run) {
  if (names.file.empty())
    throw std::invalid_argument(
        fmt::format("the name of trace files is empty (try {})", kDefaultFileName));
  const bool told =
      NameTemplate(names.folder).tells_ranks() || NameTemplate(names.file).tells_ranks();
  if (run.place.world_size > 1 && !told)
    throw std::invalid_argument(fmt::format(
        "the name of trace files '{}' is the same on all ranks; put {{rank}} in it", names.file));
}

// Returns whether a file may be there. A file that this rank itself could write is from an earlier
// run; a file that another rank could write is looked for by that rank.
bool may_be_there(std::string name, const TraceNames& names, const RunIdentity& run) {
  if (!names.merged.empty()) {
    const NameTemplate::Owner owner = NameTemplate(names.merged).owner_of(name, run);
    if (owner == NameTemplate::Owner::this_rank) return run.place.local_rank != 0;
    if (owner == NameTemplate::Owner::other_rank) return true;
  }
  if (const std::size_t mark = name.rfind(kUnfinishedMark); mark != std::string::npos)
    name.erase(mark, kUnfinishedMark.size());
  return NameTemplate(names.file).owner_of(name, run) == NameTemplate::Owner::other_rank;
}

void check_empty(const std::string& folder, const TraceNames& names, const RunIdentity& run) {
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    if (is_hidden(entries->path())) {
      entries.disable_recursion_pending();
      continue;
    }
    std::error_code ignored;  // a file that is gone again is no obstacle
    if (entries->is_directory(ignored)) continue;
    const std::string name = entries->path().lexically_relative(folder).string();
    if (may_be_there(name, names, run)) continue;
    throw Error(folder, fmt::format("is not empty ({}): choose another folder or run name, or "
                                    "allow to overwrite",
                                    name));
  }
  if (error) throw Error(folder, error.message());
}

}  // namespace

void prepare_folder(const TraceNames& names, const RunIdentity& run, OverwriteTraces overwrite) {
  check_names(names, run);
  const std::string folder = folder_of(names, run);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(folder, error.message());
  if (overwrite == OverwriteTraces::no) check_empty(folder, names, run);
}

std::string folder_of(const TraceNames& names, const RunIdentity& run) {
  return NameTemplate(names.folder).expand(run);
}

std::string merged_path_of(const TraceNames& names, const RunIdentity& run) {
  if (names.merged.empty()) return "";
  return (fs::path(folder_of(names, run)) / NameTemplate(names.merged).expand(run)).string();
}

std::function<std::string(const Position&)> file_namer(const TraceNames& names,
                                                       const RunIdentity& run) {
  return [name = NameTemplate(names.file), run](const Position& position) {
    return name.expand(run, position);
  };
}

}  // namespace traceloom::record
