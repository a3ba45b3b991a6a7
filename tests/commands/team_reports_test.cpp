// An answer by several processes is the answer by one, to the byte, on each of them.
#include "commands/command_runs.h"
#include "input/input_list.h"
#include "support/thread_transport.h"
#include "support/tries.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

std::string text_of(const Answer& answer) {
  if (answer.text) return *answer.text;
  return render_report(answer.report, TableFormat::json, {});
}

// Checks a command in teams of several sizes, for the inputs of its request.
void check_in_teams(const CommandRun& command, const RunRequest& request) {
  RunRequest of_one = request;
  of_one.spread = false;
  const std::string alone = text_of(command.analysis->answer(read_run(of_one)));
  for (const std::size_t processes : of_today(std::vector<std::size_t>{3, 2, 5}))
    run_as_team(processes, [&](Team& team) {
      RunRequest own = request;
      own.team = &team;
      CHECK(text_of(command.analysis->answer(read_run(own))) == alone);
    });
}

}  // namespace

TEST_CASE("answers of a team: the same as of one process, on all of them" *
          doctest::test_suite("long")) {
  std::size_t taken = 0;
  std::size_t place = 0;
  for (const CommandRun& command : analysis_runs()) {
    RunRequest request = command.analysis->request();
    // Without spread process 0 has all events and answers alone.
    if (!request.spread) continue;
    CAPTURE(command.words);
    ++taken;
    request.threads = 2;
    for (const char* const folder : {"compare/base/c0", "cycles", "demo/composer", "demo/kineto",
                                     "devices", "merge/ok", "modules", "straggler"}) {
      // A day takes each second, in turns that differ by command.
      if ((taken + place++) % 2 != 0 && !is_night()) continue;
      CAPTURE(folder);
      request.inputs = expand_inputs({std::string(TRACELOOM_SOURCE_DIR "/testdata/") + folder});
      check_in_teams(command, request);
    }
  }
  CHECK(taken >= 15);
}
