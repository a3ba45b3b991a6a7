#include "record/engine/writer_parts.h"

#include "base/problems.h"
#include "record/files/event_sources.h"
#include "record/slots.h"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

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

void StatusBoard::set_error(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    status_.last_error = text;
  }
  try {
    if (options_.log) options_.log(text);
  } catch (...) {
    return;  // nobody can be informed of a log that fails
  }
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

HandlerList::HandlerList(const Options& options, StatusBoard& status, NextPath next_path)
    : status_(status) {
  if (options.write_json) {
    json_ = std::make_shared<JsonSink>(
        JsonSinkOptions{options.gzip_level, options.overwrite, std::move(next_path)});
    handlers_.push_back({json_});
  }
  for (const std::shared_ptr<TraceHandler>& handler : options.handlers)
    handlers_.push_back({handler});
}

void HandlerList::begin_cycle() {
  json_failure_.clear();
  for (Handler& handler : handlers_) handler.has_failed = false;
}

void HandlerList::metadata(const char* name, const std::string& args, std::int64_t at_ns,
                           std::int64_t tid) {
  call([event = MetadataEvent{name, args, at_ns, tid}](TraceHandler& handler) {
    handler.metadata(event);
  });
}

void HandlerList::take_external_trace(const std::string& path) {
  for (Handler& handler : handlers_) {
    if (handler.has_failed) continue;
    try {
      handler.handler->external_trace(path);
    } catch (const ImperfectTrace& error) {
      status_.set_error(error.what());
    } catch (...) {
      if (handler.handler == json_)
        status_.set_error(current_problem() + "; the external trace is left out");
      else
        fail(handler);
    }
  }
}

void HandlerList::fail_json() {
  fail(handlers_.front());
}

// Notes the exception that is being handled.
void HandlerList::fail(Handler& handler) {
  handler.has_failed = true;
  const bool is_json = handler.handler == json_;
  if (is_json) json_failure_ = current_reason();
  status_.set_error(current_problem() + (is_json ? "; nothing more of this cycle is written"
                                                 : "; the handler gets no more of this cycle"));
}

namespace {

constexpr std::int64_t kBetweenPairsNs = 1'000'000'000;

}  // namespace

void WriterClock::keep_time() {
  ClockPair pair = read_clock_pair();
  while (!line_.is_ready()) {
    const std::int64_t passed_ns = pair.monotonic_ns - line_.start().monotonic_ns;
    if (passed_ns < kLeastBaselineNs)
      std::this_thread::sleep_for(std::chrono::nanoseconds(kLeastBaselineNs - passed_ns));
    pair = read_clock_pair();
    line_.add(pair);
    if (line_.is_ready() && journal_ != nullptr) journal_->add_segment(line_.last_segment());
  }
  if (pair.monotonic_ns - line_.last().monotonic_ns < kBetweenPairsNs) return;
  check(pair);
  line_.add(pair);
  if (journal_ != nullptr) journal_->add_segment(line_.last_segment());
}

ClockPair WriterClock::read() {
  const ClockPair pair = read_clock_pair();
  check(pair);
  return pair;
}

// Called at both ends of a cycle, and every second in between: a machine that was moved while it
// ran may have another counter.
void WriterClock::check(const ClockPair& pair) {
  constexpr std::int64_t kMostErrorNs = 1'000'000;
  constexpr std::int64_t kMostDrift = 1000;  // one part in so many, while the thread did not look
  const std::int64_t error_ns = std::abs(line_.check(pair));
  const std::int64_t passed_ns = pair.monotonic_ns - line_.last().monotonic_ns;
  if (error_ns <= kMostErrorNs + passed_ns / kMostDrift) return;
  distrust_counter();
  if (std::exchange(is_told_, true)) return;
  status_.set_error(
      "the processor's counter was " + std::to_string(error_ns / 1000) +
      " us off CLOCK_MONOTONIC, and so may times of this trace be; further sessions of this "
      "process go by CLOCK_MONOTONIC");
}

}  // namespace traceloom::record
