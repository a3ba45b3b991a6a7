#include "record/session.h"

#include "record/engine/engine.h"
#include "record/support/keep_forever.h"

#include <exception>
#include <new>

namespace traceloom::record {

Session::Session(Options options) : engine_(std::make_shared<Engine>(std::move(options))) {}

Session Session::open(Options options) noexcept {
  const Options given = options;
  try {
    return Session(std::move(options));
  } catch (const std::exception& error) {
    return Session(Refusal{error.what()}, given);
  } catch (...) {
    return Session(Refusal{"a callback threw an exception of an unknown type"}, given);
  }
}

// Makes a session that only meets at the barrier: other ranks may be there already, and wait for
// this one.
Session::Session(Refusal refusal, Options options) noexcept : refusal_(std::move(refusal.why)) {
  try {
    if (options.log) options.log(refusal_ + "; nothing is recorded");
    if (!options.barrier) return;
    options.write_json = false;
    options.journal_folder.clear();
    options.handlers.clear();
    options.on_saved = {};
    engine_ = std::make_shared<Engine>(std::move(options));
  } catch (...) {
    engine_ = nullptr;  // the first problem is reported
  }
}

Session::~Session() {
  if (engine_ == nullptr || engine_->is_of_this_process()) return;
  // The engine's thread does not exist here, and what it holds may be locked for ever.
  keep_forever(new (std::nothrow) std::shared_ptr<Engine>(std::move(engine_)));
}

// Returns nullptr in the child of a fork(), where nothing is done: the session belongs to the
// parent.
Engine* Session::engine() const {
  return engine_ != nullptr && engine_->is_of_this_process() ? engine_.get() : nullptr;
}

bool Session::is_open() const {
  return refusal_.empty() && engine() != nullptr && engine()->is_open();
}

void Session::batch_begin(const Position& position) {
  if (Engine* const own = engine()) own->batch_begin(position);
}

void Session::batch_end(const Position& position) {
  if (Engine* const own = engine()) own->batch_end(position);
}

void Session::set_position(const Position& position) {
  if (Engine* const own = engine()) own->set_position(position);
}

Action Session::action() const {
  const Engine* const own = engine();
  return own == nullptr ? Action::skip : own->action();
}

void Session::record_chrome_json_trace_file(const std::string& path) {
  if (Engine* const own = engine(); own != nullptr && refusal_.empty())
    own->record_external_trace(path);
}

void Session::flush() {
  if (Engine* const own = engine()) own->flush();
}

bool Session::wait_saved(unsigned timeout_ms) {
  Engine* const own = engine();
  return own == nullptr || own->wait_saved(timeout_ms);
}

std::vector<SavedTrace> Session::saved_traces() const {
  const Engine* const own = engine();
  return own == nullptr ? std::vector<SavedTrace>{} : own->saved_traces();
}

Status Session::status() const {
  Status status;
  if (!refusal_.empty())
    status.last_error = refusal_;  // a session without files counts nothing
  else if (const Engine* const own = engine())
    status = own->status();
  return status;
}

Status Session::close() {
  if (engine_ != nullptr) engine_->close(UseBarrier::yes);
  return status();
}

}  // namespace traceloom::record
