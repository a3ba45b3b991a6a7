#include "record/trace_folder.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace traceloom::record {
namespace {

namespace fs = std::filesystem;

// In the name of a file that is being written, before ".json".
constexpr std::string_view kUnfinished = ".unfinished";

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

}  // namespace

TraceFolder::TraceFolder(TraceFolderOptions options)
    : options_(std::move(options)),
      file_name_(options_.file_name),
      folder_(NameTemplate(options_.folder).expand(options_.run)),
      merged_name_(NameTemplate(options_.merged_name).expand(options_.run)) {
  if (options_.traces_to_keep < kKeepAllTraces)
    throw std::invalid_argument(
        fmt::format("num_traces_to_keep is {}; -1 keeps all, 0 none", options_.traces_to_keep));
  if (options_.file_name.empty())
    throw std::invalid_argument(
        fmt::format("the name of trace files is empty (try {})", kDefaultFileName));
  const bool folder_tells = NameTemplate(options_.folder).tells_ranks();
  if (options_.run.place.world_size > 1 && !folder_tells && !file_name_.tells_ranks())
    throw std::invalid_argument(
        fmt::format("the name of trace files '{}' is the same on all ranks; put {{rank}} in it",
                    options_.file_name));
}

// What this rank itself could write is from an earlier run; what another rank could write, that one
// looks for.
bool TraceFolder::may_be_there(const std::string& name) const {
  const bool merged_is_mine = options_.run.place.local_rank == 0;
  if (!merged_name_.empty() && name == merged_name_) return !merged_is_mine;
  std::string final_name = name;
  if (const std::size_t mark = final_name.rfind(kUnfinished); mark != std::string::npos)
    final_name.erase(mark, kUnfinished.size());
  return file_name_.owner_of(final_name, options_.run) == NameTemplate::Owner::other_rank;
}

void TraceFolder::prepare() const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw Error(folder_, error.message());
  if (options_.overwrite == OverwriteTraces::yes) return;
  fs::recursive_directory_iterator entries(folder_, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    if (is_hidden(entries->path())) {
      entries.disable_recursion_pending();
      continue;
    }
    std::error_code ignored;  // a file that is gone again is no obstacle
    if (entries->is_directory(ignored)) continue;
    const std::string name = entries->path().lexically_relative(folder_).string();
    if (may_be_there(name)) continue;
    throw Error(folder_, fmt::format("is not empty ({}): choose another folder or run name, or "
                                     "allow to overwrite",
                                     name));
  }
  if (error) throw Error(folder_, error.message());
}

std::string TraceFolder::path_at(const TrainingPosition& position) const {
  return (fs::path(folder_) / file_name_.expand(options_.run, position)).string();
}

std::string TraceFolder::merged_path() const {
  return merged_name_.empty() ? "" : (fs::path(folder_) / merged_name_).string();
}

void TraceFolder::saved(const TrainingPosition& position, const std::vector<std::string>& paths) {
  Saved trace{position, {}};
  for (const std::string& path : paths) {
    struct stat status {};
    if (stat(path.c_str(), &status) == 0)
      trace.files.push_back({path, status.st_dev, status.st_ino});
    else
      failures_.push_back(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  saved_.push_back(std::move(trace));
  if (options_.traces_to_keep == kKeepAllTraces) return;
  while (saved_.size() > static_cast<std::size_t>(options_.traces_to_keep)) {
    const Saved oldest = std::move(saved_.front());
    saved_.pop_front();
    for (const File& file : oldest.files)
      if (!is_written_again(file.path)) remove_file(file);
  }
}

bool TraceFolder::is_written_again(const std::string& path) const {
  return std::any_of(saved_.begin(), saved_.end(), [&](const Saved& trace) {
    return std::any_of(trace.files.begin(), trace.files.end(),
                       [&](const File& file) { return file.path == path; });
  });
}

void TraceFolder::remove_file(const File& file) {
  struct stat status {};
  if (lstat(file.path.c_str(), &status) != 0) return;  // gone already
  if (status.st_dev != file.device || status.st_ino != file.inode) return;
  if (unlink(file.path.c_str()) != 0 && errno != ENOENT)
    failures_.push_back(fmt::format("{}: {}", file.path, std::strerror(errno)));
}

std::vector<SavedTrace> TraceFolder::saved_traces() const {
  std::vector<SavedTrace> traces;
  traces.reserve(saved_.size());
  for (const Saved& saved : saved_) {
    SavedTrace& trace = traces.emplace_back(SavedTrace{saved.position, {}});
    for (const File& file : saved.files) trace.paths.push_back(file.path);
  }
  return traces;
}

std::vector<std::string> TraceFolder::take_failures() {
  return std::exchange(failures_, {});
}

}  // namespace traceloom::record
