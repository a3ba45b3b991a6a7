// trace-stats bottleneck: what limits the run.
#include "analysis/reports/reports.h"
#include "analysis/verdict/verdict.h"
#include "base/problems.h"
#include "common/command_line.h"
#include "common/command_spec.h"
#include "common/option_values.h"
#include "common/run_tool.h"
#include "common/terminal.h"
#include "gate/gate_term.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace traceloom {
namespace {

// The options as they were typed.
struct GateOptions {
  std::vector<LimitGate> gates;
  bool allows_unknown = false;
};

Limit read_limit(const std::string& word) {
  const auto* const found = std::find(kLimitNames.begin(), kLimitNames.end(), word);
  if (found != kLimitNames.end()) return static_cast<Limit>(found - kLimitNames.begin());
  const std::vector<std::string> known(kLimitNames.begin(), kLimitNames.end());
  throw UsageError(fmt::format("--fail-on: '{}' is not one of {}{}", word, fmt::join(known, ", "),
                               did_you_mean(word, known)));
}

// Reads "data-loading=5%", "data-loading>5%", "gain:data-loading=5%" or "straggler".
LimitGate read_gate(const std::string& text) {
  constexpr std::string_view kGain = "gain:";
  const bool of_gain = text.starts_with(kGain);
  const GateTerm term = read_gate_term("--fail-on", of_gain ? text.substr(kGain.size()) : text, {});
  LimitGate gate{.limit = read_limit(term.metric()), .of_gain = of_gain};
  if (term.bounds.empty() && of_gain)
    throw UsageError(fmt::format("--fail-on: '{}' needs a share (try {}=5%)", text, text));
  if (term.bounds.empty()) return gate;
  if (gate.limit == Limit::inconclusive)
    throw UsageError(
        fmt::format("--fail-on: '{}': inconclusive is a verdict and has no share", text));
  const GateBound& bound = term.bounds.front();
  if (term.bounds.size() > 1 || bound.unit != BoundUnit::share || bound.is_change ||
      bound.value > 1)
    throw UsageError(
        fmt::format("--fail-on: '{}' has no share from 0% to 100% (try data-loading=5%)", text));
  gate.share = bound.value;
  return gate;
}

std::vector<LimitGate> read_gates(const std::vector<std::string>& lists) {
  std::vector<LimitGate> gates;
  for (const std::string& list : with_gate_files(lists))
    for (const std::string& word : split_gate_terms(list)) gates.push_back(read_gate(word));
  return gates;
}

// Returns "5%" for "5%", "5" and "5%,straggler", and "" for a name without a share.
std::string share_in_name(const std::string& file) {
  const std::size_t digits = std::min(file.find_first_not_of("0123456789."), file.size());
  const std::string rest = file.substr(digits);
  const bool is_share = digits != 0 && (rest.empty() || rest == "%" || rest.starts_with("%,"));
  return is_share ? file.substr(0, digits) + "%" : "";
}

// Without quotes a shell takes --fail-on data-loading>5%,straggler for a redirection to a file with
// the name "5%,straggler", and the gate loses its share and all that follows.
void refuse_redirected_share(const std::vector<LimitGate>& gates) {
  constexpr char kStdout[] = "/proc/self/fd/1";
  std::error_code error;
  // A terminal may be called /dev/pts/0.
  if (!std::filesystem::is_regular_file(kStdout, error)) return;
  const std::string file = std::filesystem::read_symlink(kStdout, error).filename().string();
  const std::string share = share_in_name(file);
  const auto cut =
      std::find_if(gates.rbegin(), gates.rend(), [](const LimitGate& gate) { return !gate.share; });
  if (!share.empty() && cut != gates.rend())
    throw UsageError(
        fmt::format("--fail-on: the shell used '>{0}' as a file to write to; quote it, or "
                    "write {1}={2}",
                    file, limit_name(cut->limit), share));
}

Answer answer(const Run& run, const GateOptions& options) {
  if (tool_team().is_first()) refuse_redirected_share(options.gates);
  BottleneckAnswer found = bottleneck_report(run);
  Answer answer{std::move(found.report)};
  for (const LimitGate& gate : options.gates) {
    const GateResult result = judge(gate, found.verdict);
    if (result.answer == GateAnswer::passes) continue;
    const bool is_unknown = result.answer == GateAnswer::unknown;
    answer.is_no |= !is_unknown;
    answer.report.is_unknown |= is_unknown && !options.allows_unknown;
    say(kToolName, Tone::note,
        fmt::format("--fail-on: {}{}", result.why,
                    is_unknown && !options.allows_unknown ? " (--unknown pass allows that)" : ""));
  }
  return answer;
}

void add_bottleneck(CLI::App& app, Work& work) {
  const auto options = std::make_shared<GateOptions>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "bottleneck",
       .help =
           "What limits the run, why, and what to do next (start here)\n"
           "Shows what the traces hold, how long steps take, the verdict, what would save time and "
           "how much at most, and where the time of a step goes. The verdict is the limit whose "
           "removal would save most, of at least 1 % of a step; inconclusive if the traces do not "
           "tell. Shares refer to the mean step of the rank that holds up the others, or of all "
           "ranks if none does.",
       .python = true,
       .spread = true,
       .takes_mesh = true,
       .has_gates = [options] { return !options->gates.empty(); }},
      [options](const Run& run) { return answer(run, *options); });
  command
      ->add_option_function<std::vector<std::string>>(
          "--fail-on",
          [options](const std::vector<std::string>& lists) { options->gates = read_gates(lists); },
          fmt::format(
              "Exit with status 1 if a LIMIT takes more than N% of a step or, without N%, is the "
              "verdict; with 2 if the traces cannot answer. gain:LIMIT=N% is about what would be "
              "saved. LIMIT is one of {}. LIMIT>N% means the same, but needs quotes in a shell",
              fmt::join(kLimitNames, ", ")))
      ->type_name("LIMIT[=N%],...");
  add_fail_or_pass(*command, "--unknown", options->allows_unknown,
                   "Result of a gate that cannot be measured: exit with status 2, or pass");
  set_examples(*command, {{"what limits this run", "trace-stats bottleneck traces/"},
                          {"a gate for CI",
                           "trace-stats bottleneck traces/ --fail-on data-loading=5%,straggler"}});
}

const RegisteredCommand kBottleneckCommand(CommandGroup::limits, 10, add_bottleneck);

}  // namespace
}  // namespace traceloom
