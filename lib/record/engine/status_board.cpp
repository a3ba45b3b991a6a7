#include "record/engine/status_board.h"

#include "base/error.h"
#include "record/buffers/clock.h"
#include "record/slots.h"

#include <exception>

namespace traceloom::record {

std::string current_problem() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

std::string current_reason() {
  try {
    throw;
  } catch (const Error& error) {
    return error.problem();
  } catch (...) {
    return current_problem();
  }
}

StatusBoard::StatusBoard(const Options& options)
    : options_(options), kept_(options.num_traces_to_keep) {
  status_.clock = detail::clock_is_tsc.load() ? "tsc" : "monotonic";
}

Status StatusBoard::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

std::vector<SavedTrace> StatusBoard::saved_traces() const {
  const std::lock_guard lock(mutex_);
  return kept_.list();
}

void StatusBoard::tell(const std::string& text) const {
  if (!options_.log) return;
  try {
    options_.log(text);
  } catch (...) {
    return;  // nobody can be informed of a log that fails
  }
}

void StatusBoard::set_error(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    status_.last_error = text;
  }
  tell(text);
}

void StatusBoard::add_counts(std::uint64_t events, std::uint64_t lost,
                             std::optional<std::uint64_t> bytes) {
  const std::lock_guard lock(mutex_);
  status_.events += events;
  status_.lost += lost;
  if (bytes) status_.bytes = *bytes;
}

void StatusBoard::save(const SavedTrace& saved, std::optional<TracePart> part) {
  std::optional<std::string> complaint;
  if (part) {
    const std::lock_guard lock(mutex_);
    complaint = kept_.add(saved, *part);
  }
  if (complaint) set_error(*complaint);
  if (options_.on_saved) {
    try {
      options_.on_saved(saved);
    } catch (...) {
      set_error(current_problem());
    }
  }
  std::vector<std::string> complaints;
  {
    const std::lock_guard lock(mutex_);
    complaints = kept_.delete_old();
  }
  for (const std::string& each : complaints) set_error(each);
}

}  // namespace traceloom::record
