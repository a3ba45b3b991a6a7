#include "record/names/session_place.h"

#include "record/names/run_place.h"
#include "record/support/c_calls.h"

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

// A program that does not know the size says 0.
std::int64_t size_or_unknown(std::int64_t size) {
  return size > 0 ? size : kFromEnvironment;
}

void check_cycle(const traceloom_cycle* cycle) {
  if (traceloom_check_cycle(cycle) != 0) throw std::invalid_argument(traceloom_last_error());
}

// Both languages have the values of an enum in one order.
void check_enum(const char* name, int value, int most) {
  if (value < 0 || value > most)
    throw std::invalid_argument(
        fmt::format("traceloom_options.{} {} is not from 0 to {}", name, value, most));
}

}  // namespace

RunPlace given_place(const traceloom_options& options) {
  return {options.rank, options.local_rank, options.world_size, options.local_world_size,
          options.node_rank};
}

SessionOptions::SessionOptions(const traceloom_options* given)
    : traceloom_options(complete(given)) {
  if (start != nullptr && start->size >= sizeof start->size) first_ = complete(start);
  folder = keep(folder == nullptr ? "traces" : folder);
  const bool has_name = file_name != nullptr && *file_name != '\0';
  file_name = keep(has_name ? file_name : std::string(kDefaultFileName));
  journal_folder = keep(text_or_empty(journal_folder));
}

void SessionOptions::check() {
  check_enum("when_full", when_full, TRACELOOM_BLOCK);
  check_enum("clock", clock, TRACELOOM_CLOCK_TSC);
  if (handlers == nullptr && handler_count > 0)
    throw std::invalid_argument(
        fmt::format("traceloom_options: {} handlers, but no pointer to them", handler_count));
  handlers_.clear();
  for (std::size_t i = 0; i < handler_count; ++i)
    handlers_.push_back(std::make_shared<ProgramHandler>(handlers[i], i));
  if (schedule == traceloom_cyclic_schedule && schedule_arg != nullptr)
    check_cycle(static_cast<const traceloom_cycle*>(schedule_arg));
  static_cast<void>(complete(start));
}

void SessionOptions::settle() {
  check();
  const RunPlace place = known_place(given_place(*this));
  RunPlace of_names = place;
  of_names.world_size = size_or_unknown(place.world_size);
  of_names.local_world_size = size_or_unknown(place.local_world_size);
  run_ = {default_run_name(), find_place(of_names)};
  name_.emplace(file_name);
  folder = keep(NameTemplate(folder).expand(run_));
  rank = std::max<std::int64_t>(place.rank, 0);
  local_rank = std::max<std::int64_t>(place.local_rank, 0);
  node_rank = std::max<std::int64_t>(place.node_rank, 0);
  world_size = std::max<std::int64_t>(place.world_size, 0);
  local_world_size = std::max<std::int64_t>(place.local_world_size, 0);
}

Action SessionOptions::action_at(const Position& at) const {
  if (schedule == nullptr) return Action::active;
  const int number = schedule(schedule_arg, &at);
  return number < TRACELOOM_SKIP || number > TRACELOOM_ACTIVE_AND_SAVE
             ? Action::skip
             : static_cast<Action>(number);
}

std::function<void()> SessionOptions::meeting() const {
  if (barrier == nullptr) return {};
  return [meet = barrier, arg = barrier_arg] { meet(arg); };
}

std::function<void(const std::string&)> SessionOptions::log_function() const {
  if (log == nullptr) return {};
  return [tell = log, arg = log_arg](const std::string& line) { tell(arg, line.c_str()); };
}

std::string SessionOptions::name_at(const Position& at) const {
  if (name_file != nullptr) return text_or_empty(name_file(name_file_arg, &at));
  return name_->expand(run_, at);
}

void tell_saved_trace(const SavedTrace& saved, TellSavedTrace* tell, void* arg) {
  const traceloom_saved_trace trace{sizeof trace, &saved.position, saved.path.c_str(), saved.events,
                                    saved.dropped};
  if (tell != nullptr) tell(arg, &trace);
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
