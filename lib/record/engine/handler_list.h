// HandlerList: all that get the recorded events: the JSON file, and the handlers of the program.
//
//   HandlerList handlers(options, status, next_path);
//   handlers.call([](TraceHandler& handler) { handler.flush(); });
#pragma once

#include "record/engine/status_board.h"
#include "record/files/json_sink.h"
#include "record/session.h"
#include "record/trace_handler.h"

#include <memory>
#include <string>
#include <vector>

namespace traceloom::record {

// A handler that throws gets nothing more of the cycle. Only the writer's thread may use it.
class HandlerList {
 public:
  HandlerList(const Options& options, StatusBoard& status, NextPath next_path);

  // Gives all handlers another chance.
  void begin_cycle();
  template <typename Call>
  void call(const Call& use);
  // Leaves out the JSON file.
  template <typename Call>
  void call_others(const Call& use);
  // A trace that cannot be read is no reason to stop the file.
  void take_external_trace(const std::string& path);

  // Returns nullptr without files.
  JsonSink* json() const { return json_.get(); }
  bool has_file() const { return json_ != nullptr && json_->has_file(); }
  bool has_json_failed() const { return json_ != nullptr && handlers_.front().has_failed; }
  // Stops the file because of the exception that is being handled.
  void fail_json();
  // Returns why nothing more of this cycle is written, or nothing.
  const std::string& json_failure() const { return json_failure_; }

 private:
  struct Handler {
    std::shared_ptr<TraceHandler> handler;
    bool has_failed = false;  // in this cycle
  };

  void fail(Handler& handler);

  StatusBoard& status_;
  std::shared_ptr<JsonSink> json_;  // also the first of handlers_; null without files
  std::vector<Handler> handlers_;
  std::string json_failure_;
};

template <typename Call>
void HandlerList::call(const Call& use) {
  for (Handler& handler : handlers_) {
    if (handler.has_failed) continue;
    try {
      use(*handler.handler);
    } catch (...) {
      fail(handler);
    }
  }
}

template <typename Call>
void HandlerList::call_others(const Call& use) {
  call([&](TraceHandler& handler) {
    if (&handler != json_.get()) use(handler);
  });
}

}  // namespace traceloom::record
