#include "record/session.h"

#include "record/engine.h"
#include "record/keep_forever.h"

#include <new>

namespace traceloom::record {

// In the child of a fork() all of this does nothing: the session is the parent's.

Session::Session(Options options) : engine_(std::make_shared<Engine>(std::move(options))) {}

Session::~Session() {
  if (engine_->is_of_this_process()) return;
  // Its thread does not exist here, and what it holds may be locked for ever.
  keep_forever(new (std::nothrow) std::shared_ptr<Engine>(std::move(engine_)));
}

void Session::batch_begin(const Position& position) {
  if (engine_->is_of_this_process()) engine_->batch_begin(position);
}

void Session::batch_end(const Position& position) {
  if (engine_->is_of_this_process()) engine_->batch_end(position);
}

void Session::set_position(const Position& position) {
  if (engine_->is_of_this_process()) engine_->set_position(position);
}

Action Session::action() const {
  return engine_->is_of_this_process() ? engine_->action() : Action::skip;
}

void Session::record_chrome_json_trace_file(const std::string& path) {
  if (engine_->is_of_this_process()) engine_->record_external_trace(path);
}

void Session::flush() {
  if (engine_->is_of_this_process()) engine_->flush();
}

bool Session::wait_saved(unsigned timeout_ms) {
  return !engine_->is_of_this_process() || engine_->wait_saved(timeout_ms);
}

std::vector<SavedTrace> Session::saved_traces() const {
  return engine_->is_of_this_process() ? engine_->saved_traces() : std::vector<SavedTrace>{};
}

Status Session::status() const {
  return engine_->is_of_this_process() ? engine_->status() : Status{};
}

void Session::close() {
  engine_->close(UseBarrier::yes);
}

}  // namespace traceloom::record
