// A summary by several processes is the summary by one.
#include "base/problems.h"
#include "input/input_list.h"
#include "summarize/summarize.h"
#include "support/random_trace.h"
#include "support/temporary_folder.h"
#include "support/thread_transport.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

std::string json_of(const Summary& summary) {
  return render_summary(summary, TableFormat::json, {});
}

// The summary by a team, or the message of what process 0 threw.
std::string json_by_team(const SummaryRequest& request, std::size_t processes) {
  std::string json;
  try {
    run_as_team(processes, [&](Team& team) {
      SummaryRequest own = request;
      own.team = &team;
      const Summary summary = summarize(own);
      if (team.is_first()) json = json_of(summary);
    });
  } catch (const std::exception& error) {
    return error.what();
  }
  return json;
}

std::string json_alone(const SummaryRequest& request) {
  try {
    return json_of(summarize(request));
  } catch (const std::exception& error) {
    return error.what();
  }
}

void check_teams(const SummaryRequest& request) {
  const std::string alone = json_alone(request);
  for (const std::size_t processes : {1, 2, 3, 5, 8}) {
    CAPTURE(processes);
    CHECK(json_by_team(request, processes) == alone);
  }
}

SummaryRequest request_for(const std::string& folder) {
  SummaryRequest request;
  request.inputs = expand_inputs({std::string(TRACELOOM_SOURCE_DIR "/testdata/") + folder});
  request.threads = 1;
  request.keep_going = true;
  return request;
}

}  // namespace

TEST_CASE("summary by a team: the same rows, whatever is asked for") {
  for (const char* const folder : {"cycles", "devices", "merge/ok", "straggler", "broken"}) {
    CAPTURE(folder);
    SummaryRequest request = request_for(folder);
    check_teams(request);
    request.by = {.name = true, .category = true, .rank = true};
    request.order = SummaryOrder::p99;
    request.top = 7;
    check_teams(request);
    request.by = {.category = true};
    request.time = {.from_ns = 0, .to_ns = 1'000'000};
    check_teams(request);
  }
}

TEST_CASE("summary by a team: many names and long spans") {
  TemporaryFolder folder;
  SummaryRequest request;
  request.threads = 1;
  for (int rank = 0; rank < 7; ++rank) {
    std::string text = "[";
    for (int i = 0; i < 300; ++i)
      text +=
          fmt::format(R"({{"ph":"X","name":"n{}","cat":"c{}","pid":{},"tid":1,"ts":{},"dur":{}}},)",
                      (i * 7 + rank) % 90, i % 2, rank, i, i % 50 == 0 ? 5'000'000'000LL + i : i);
    text.back() = ']';
    request.inputs.push_back({folder.write(fmt::format("rank{}.json", rank), text), std::nullopt});
  }
  check_teams(request);
  request.max_rows = 89;
  CHECK(json_alone(request).starts_with("the summary has more than 89 rows; "));
  check_teams(request);
}

TEST_CASE("summary by a team: the lowest file that fails is reported") {
  SummaryRequest request = request_for("broken");
  request.keep_going = false;
  check_teams(request);
}
