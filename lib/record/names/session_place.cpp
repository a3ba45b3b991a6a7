#include "record/names/session_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace traceloom::record {
namespace {

RunPlace given_place(const Options& options) {
  return {options.rank, options.local_rank, options.world_size, options.local_world_size,
          options.node_rank};
}

// A program that does not know the size says 0.
std::int64_t size_or_unknown(std::int64_t size) {
  return size > 0 ? size : kFromEnvironment;
}

}  // namespace

Options settled_options(Options options) {
  options.folder = NameTemplate(options.folder).expand(identity_of(options));
  const RunPlace place = known_place(given_place(options));
  options.rank = std::max<std::int64_t>(place.rank, 0);
  options.local_rank = std::max<std::int64_t>(place.local_rank, 0);
  options.node_rank = std::max<std::int64_t>(place.node_rank, 0);
  options.world_size = std::max<std::int64_t>(place.world_size, 0);
  options.local_world_size = std::max<std::int64_t>(place.local_world_size, 0);
  return options;
}

RunIdentity identity_of(const Options& options) {
  RunPlace place = known_place(given_place(options));
  place.world_size = size_or_unknown(place.world_size);
  place.local_world_size = size_or_unknown(place.local_world_size);
  return {default_run_name(), find_place(place)};
}

KeptTraces::KeptTraces(std::int64_t num_traces_to_keep) : most_(num_traces_to_keep) {
  if (most_ < kKeepAllTraces)
    throw std::invalid_argument(
        fmt::format("num_traces_to_keep is {}; -1 keeps all, 0 none", most_));
}

std::optional<std::string> KeptTraces::add(const SavedTrace& trace, TracePart part) {
  struct stat status {};
  if (stat(trace.path.c_str(), &status) != 0)
    return fmt::format("{}: {}", trace.path, std::strerror(errno));
  const bool has_cycle = cycle_count() > 0;
  kept_.push_back({trace, status.st_dev, status.st_ino, has_cycle ? part : TracePart::cycle});
  return std::nullopt;
}

std::vector<std::string> KeptTraces::delete_old() {
  std::vector<std::string> failures;
  if (most_ == kKeepAllTraces) return failures;
  const auto most = static_cast<std::size_t>(most_);
  while (cycle_count() > most || (!kept_.empty() && kept_.front().part == TracePart::rest)) {
    const Kept oldest = std::move(kept_.front());
    kept_.pop_front();
    if (std::string failure = remove(oldest); !failure.empty())
      failures.push_back(std::move(failure));
  }
  return failures;
}

std::size_t KeptTraces::cycle_count() const {
  return static_cast<std::size_t>(std::count_if(
      kept_.begin(), kept_.end(), [](const Kept& kept) { return kept.part == TracePart::cycle; }));
}

std::string KeptTraces::remove(const Kept& kept) const {
  const std::string& path = kept.trace.path;
  const bool is_used_again = std::any_of(
      kept_.begin(), kept_.end(), [&](const Kept& later) { return later.trace.path == path; });
  struct stat status {};
  if (is_used_again || lstat(path.c_str(), &status) != 0) return "";
  if (status.st_dev != kept.device || status.st_ino != kept.inode) return "";
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return "";
  return fmt::format("{}: {}", path, std::strerror(errno));
}

std::vector<SavedTrace> KeptTraces::list() const {
  std::vector<SavedTrace> traces;
  traces.reserve(kept_.size());
  for (const Kept& kept : kept_) traces.push_back(kept.trace);
  return traces;
}

}  // namespace traceloom::record
