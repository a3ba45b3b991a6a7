// These tests check what a program in C may do in the calls that a session makes to it.
#include "record/recorded.h"
#include "record/traceloom.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("c_api: what the session calls cannot close it, and is told so") {
  struct Told {
    traceloom_session* session = nullptr;
    Lines closes;
    static int close(void* arg) {
      Told& told = *static_cast<Told*>(arg);
      const int result = traceloom_close(told.session);
      told.closes.push_back(fmt::format("{} {}", result, traceloom_last_error()));
      return 0;
    }
  } told;
  const TemporaryFolder folder;
  const std::string path = folder.path();
  traceloom_handler handler = TRACELOOM_HANDLER_INIT;
  handler.arg = &told;
  handler.instant = [](void* arg, const traceloom_instant_event*) { return Told::close(arg); };
  const traceloom_handler* const handlers[] = {&handler};
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.folder = path.c_str();
  options.handlers = handlers;
  options.handler_count = 1;
  options.on_saved_trace = [](void* arg, const traceloom_saved_trace*) { Told::close(arg); };
  options.on_saved_trace_arg = &told;
  told.session = traceloom_open(&options);
  REQUIRE(told.session != nullptr);
  traceloom_instant(traceloom_marker_new("now", "", 0, 0));
  CHECK(traceloom_flush(told.session) == 0);
  const std::string refused =
      "-1 traceloom_close() was called in a handler or an on_saved of the session, which would "
      "wait for itself; the session is still open";
  CHECK(told.closes == Lines{refused});
  traceloom_status status{};
  status.size = sizeof status;
  CHECK(traceloom_get_status(told.session, &status) == 0);
  CHECK(status.events == 1);
  CHECK(traceloom_close(told.session) == 0);
  CHECK(told.closes == Lines{refused, refused});
  CHECK(files_in(path) == Lines{"ep0-ba0-rank0.json"});
}

TEST_CASE("c_api: a handler that fails at an external trace gets no more of the cycle") {
  const TemporaryFolder folder;
  const std::string path = folder.path();
  int instants = 0;
  traceloom_handler handler = TRACELOOM_HANDLER_INIT;
  handler.arg = &instants;
  handler.external_trace = [](void*, const char*) { return 5; };
  handler.instant = [](void* arg, const traceloom_instant_event*) {
    ++*static_cast<int*>(arg);
    return 0;
  };
  const traceloom_handler* const handlers[] = {&handler};
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.folder = path.c_str();
  options.write_json = 0;
  options.handlers = handlers;
  options.handler_count = 1;
  traceloom_session* const session = traceloom_open(&options);
  REQUIRE(session != nullptr);
  CHECK(traceloom_record_chrome_json_trace_file(session, "torch.json") == 0);
  CHECK(traceloom_flush(session) == 0);
  traceloom_status status{};
  status.size = sizeof status;
  CHECK(traceloom_get_status(session, &status) == 0);
  CHECK(std::string(status.last_error) ==
        "handlers[0]: external_trace() returned 5; the handler gets no more of this cycle");
  traceloom_instant(traceloom_marker_new("now", "", 0, 0));
  CHECK(traceloom_close(session) == 0);
  CHECK(instants == 0);
}
