// trace-stats bottleneck: what limits the run.
#include "analysis/bottleneck_report.h"
#include "base/error.h"
#include "common/did_you_mean.h"
#include "common/help_formatter.h"
#include "common/selection_options.h"
#include "trace_stats/analysis_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

namespace traceloom {
namespace {

// "data-loading>5%": the answer is no when the limit takes more; without a share, when it is the
// verdict.
struct Gate {
  Limit limit;
  double share = 0;
  bool has_share = false;
};

Limit read_limit(const std::string& word) {
  const auto* const found = std::find(kLimitNames.begin(), kLimitNames.end(), word);
  if (found != kLimitNames.end()) return static_cast<Limit>(found - kLimitNames.begin());
  const std::vector<std::string> known(kLimitNames.begin(), kLimitNames.end());
  throw UsageError(fmt::format("--fail-on: '{}' is not one of {}{}", word, fmt::join(known, ", "),
                               did_you_mean(word, known)));
}

Gate read_gate(const std::string& text) {
  const std::size_t sign = text.find('>');
  Gate gate{read_limit(text.substr(0, sign))};
  if (sign == std::string::npos) return gate;
  gate.has_share = true;
  const char* const begin = text.data() + sign + 1;
  const char* const end = text.data() + text.size();
  double percent = 0;
  const auto [stop, error] = std::from_chars(begin, end, percent);
  if (error != std::errc{} || std::string_view(stop, static_cast<std::size_t>(end - stop)) != "%" ||
      !(percent >= 0 && percent <= 100))
    throw UsageError(
        fmt::format("--fail-on: '{}' has no share from 0% to 100% (try data-loading>5%)", text));
  gate.share = percent / 100;
  return gate;
}

bool fails(const Gate& gate, const Verdict& verdict) {
  if (!gate.has_share) return verdict.kind == gate.limit;
  return verdict.shares[static_cast<std::size_t>(gate.limit)] > gate.share;
}

std::vector<Gate> read_gates(const std::vector<std::string>& lists) {
  std::vector<Gate> gates;
  for (const std::string& list : lists)
    for (const std::string& word : split_words(list)) gates.push_back(read_gate(word));
  return gates;
}

Answer answer(const Run& run, const std::vector<Gate>& gates) {
  BottleneckAnswer found = bottleneck_report(run);
  bool no = false;
  for (const Gate& gate : gates) {
    if (!fails(gate, found.verdict)) continue;
    no = true;
    fmt::print(stderr, "{}: --fail-on: {} takes {:.1f} % of a step\n", kToolName,
               limit_name(gate.limit),
               found.verdict.shares[static_cast<std::size_t>(gate.limit)] * 100);
  }
  return {std::move(found.report), no};
}

}  // namespace

void add_bottleneck(CLI::App& app, Work& work) {
  const auto gates = std::make_shared<std::vector<Gate>>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "bottleneck",
       .help =
           "The page to start with: what is in the traces, how long steps take, where they go, "
           "what "
           "limits the run, why one may believe that, and what to do next. Of each step the rank "
           "that "
           "the others wait for counts (column Critical). The verdict is the largest of: "
           "data-loading above 5 %, communication, straggler or memory (copies) above 10 %, idle "
           "above 15 %, launch-bound (the host works while the device does nothing) above 30 % of "
           "a "
           "step; else compute, if it is half of it; else inconclusive. Communication is without "
           "what "
           "that rank waits for others; data-loading and straggler are both told of a rank whose "
           "loader the others wait for"},
      [gates](const Run& run) { return answer(run, *gates); });
  command
      ->add_option_function<std::vector<std::string>>(
          "--fail-on",
          [gates](const std::vector<std::string>& lists) { *gates = read_gates(lists); },
          fmt::format("Exit with 1 when one of these takes more of a step than that, or, without a "
                      "share, is the verdict: {}",
                      fmt::join(kLimitNames, ", ")))
      ->type_name("LIMIT[>N%],...")
      ->group("Gate");
  set_examples(
      *command,
      {{"what limits this run", "trace-stats bottleneck traces/"},
       {"a gate for CI", "trace-stats bottleneck traces/ --fail-on 'data-loading>5%,straggler'"}});
}

}  // namespace traceloom
