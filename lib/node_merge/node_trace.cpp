#include "node_merge/node_trace.h"

#include "merge/merger.h"
#include "record/files/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace traceloom {
namespace {

namespace fs = std::filesystem;

// Returns the name that a file has while it is written. It ends like the final name, which shows
// how the file is packed and may be as long as a name can be.
std::string hidden_path(const fs::path& path) {
  constexpr std::size_t kMostOfName = 200;
  const std::string name = path.filename().string();
  return path.parent_path() /
         fmt::format(".{}-{}", getpid(),
                     name.substr(name.size() - std::min(name.size(), kMostOfName)));
}

}  // namespace

std::optional<NodeTrace::File> NodeTrace::file_at(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return File{path, info.st_dev, info.st_ino, info.st_size};
}

NodeTrace::Merged NodeTrace::add(const record::Position& at, const std::vector<Part>& parts) {
  const std::string path = settings_.path.expand(settings_.run, at);
  Merged merged;
  MergeOptions options;
  const bool goes_on = last_ && file_at(last_->path) == last_;
  if (goes_on)
    options.inputs.push_back({last_->path, std::nullopt});
  else if (last_)
    merged.problem = fmt::format(
        "{} is not there as it was merged last; what it held of earlier cycles is not in this one",
        last_->path);
  std::error_code ignored;  // a problem shows when the file is made
  fs::create_directories(fs::path(path).parent_path(), ignored);
  for (const Part& part : parts) {
    options.inputs.push_back({part.source, std::nullopt});
    options.known_as[part.source] = part.path;
  }
  options.output = hidden_path(path);
  options.threads = settings_.threads;
  options.gzip_level = settings_.gzip_level;
  options.format = format_of_name(path);
  try {
    merged.events = merge_traces(options).events;
    merged.path = goes_on ? record::give_last_name(options.output, last_->path, true)
                          : record::give_last_name(options.output, path, settings_.overwrite);
  } catch (...) {
    fs::remove(options.output, ignored);
    throw;
  }
  if (grows()) last_ = file_at(merged.path);
  return merged;
}

}  // namespace traceloom
