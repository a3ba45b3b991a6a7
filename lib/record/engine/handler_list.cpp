#include "record/engine/handler_list.h"

#include "record/files/external_trace.h"

#include <utility>

namespace traceloom::record {

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

}  // namespace traceloom::record
