// What a program in C does in the calls that a session makes to it.
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
