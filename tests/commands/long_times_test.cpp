// Every command adds up spans that are as long as possible.
#include "support/long_times.h"

#include "commands/command_runs.h"
#include "support/run_texts.h"

#include <doctest/doctest.h>

#include <set>

using namespace traceloom;

namespace {

// A sum that overflows is mostly one below 0.
void check_none_below_zero(const Report& report) {
  for (const ReportTable& part : report.tables)
    for (const std::vector<Cell>& cells : part.table.rows())
      for (std::size_t i = 0; i < cells.size(); ++i) {
        CAPTURE(part.key);
        CAPTURE(part.table.columns()[i].key);
        if (const auto* number = std::get_if<std::int64_t>(&cells[i])) CHECK(*number >= 0);
        if (const auto* number = std::get_if<double>(&cells[i])) CHECK(*number >= 0);
      }
}

}  // namespace

TEST_CASE("long times: no sum of any command overflows") {
  std::set<std::string> taken;
  for (const CommandRun& command : analysis_runs()) {
    CAPTURE(command.words);
    RunRequest request = command.analysis->request();
    request.inputs.clear();
    const Run run =
        read_texts({{"rank0.json", long_trace()}, {"rank1.json", long_trace()}}, request);
    check_none_below_zero(command.analysis->answer(run).report);
    taken.insert(command.words.substr(0, command.words.find(' ')));
  }
  CHECK(taken.size() >= 17);
}
