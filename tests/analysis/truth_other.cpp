// Numbers of several commands: collectives as tb_plugin shows them, spans and the merge of
// Composer, stragglers.
#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "truth_checks.h"

#include <algorithm>
#include <cmath>

namespace traceloom {
namespace {

// Finds the times of the row's rank, "(all)" or those of one collective.
std::string find_times(const TruthRow& row, const std::string& collective, ReportRow& found) {
  const Report report = comm_report(run_of(row, {.details = true}), {});
  for (const ReportRow& one : rows_of(report, "times"))
    if (text_in(one, "collective") == collective &&
        static_cast<double>(number_in(one, "rank")) == number_of(row.expected, "rank")) {
      found = one;
      return "";
    }
  return "no such collective of that rank";
}

double microseconds_in(const ReportRow& row, std::string_view key) {
  return static_cast<double>(number_in(row, key)) / 1000;
}

// Returns the lengths of the spans with that name, in order; a span that is also a mark counts
// once.
std::vector<std::int64_t> durations_us(const RankEvents& rank, const Labels& labels,
                                       const std::string& name) {
  std::vector<HostSpan> spans;
  const auto take = [&](const HostSpan& span) {
    if (labels.name(span.label) == name) spans.push_back(span);
  };
  rank.for_each_mark(take);
  if (spans.empty()) rank.for_each_host(take);
  std::sort(spans.begin(), spans.end(),
            [](const HostSpan& a, const HostSpan& b) { return a.start_ns < b.start_ns; });
  std::vector<std::int64_t> durations;
  for (const HostSpan& span : spans) durations.push_back((span.end_ns - span.start_ns) / 1000);
  return durations;
}

}  // namespace

std::string check_comm_transfer(const TruthRow& row) {
  ReportRow found;
  if (std::string problem = find_times(row, "(all)", found); !problem.empty()) return problem;
  return compare(row, "data_transfer", microseconds_in(found, "transfer_ns"),
                 number_of(row.expected, "data_transfer")) +
         compare(row, "synchronizing", microseconds_in(found, "waiting_ns"),
                 number_of(row.expected, "synchronizing"));
}

std::string check_comm_op(const TruthRow& row) {
  ReportRow found;
  if (std::string problem = find_times(row, text_of_key(row.expected, "name"), found);
      !problem.empty())
    return problem;
  const auto calls = static_cast<double>(number_in(found, "count"));
  const auto bytes = static_cast<double>(number_in(found, "bytes"));
  std::string differences;
  for (const auto& [key, value] :
       {std::pair{"calls", calls}, std::pair{"bytes", bytes}, std::pair{"avg_bytes", bytes / calls},
        std::pair{"latency_us", microseconds_in(found, "busy_ns")},
        std::pair{"avg_latency_us", std::round(microseconds_in(found, "busy_ns") / calls)},
        std::pair{"transfer_us", microseconds_in(found, "transfer_ns")},
        std::pair{"avg_transfer_us", std::round(microseconds_in(found, "transfer_ns") / calls)}})
    differences += compare(row, key, value, number_of(row.expected, key));
  return differences;
}

std::string check_composer_durations(const TruthRow& row) {
  const Run& run = run_of(row);
  const auto rank = static_cast<std::size_t>(number_of(row.expected, "rank"));
  std::string differences;
  for (std::size_t i = 0; i < row.expected.keys.size(); ++i) {
    const std::string& name = row.expected.keys[i];
    if (name == "rank") continue;
    std::vector<std::int64_t> expected;
    for (const oracle::Json& number : row.expected.items[i].items)
      expected.push_back(std::stoll(number.text));
    if (durations_us(run.ranks.at(rank), run.labels, name) != expected)
      differences += name + " has other durations; ";
  }
  return differences;
}

// Its merger adds two orders of rows a rank here, and else writes what it reads.
std::string check_composer_merge(const TruthRow& row) {
  constexpr double kAdded = 4;
  const Run& run = run_of(row);
  double events = kAdded;
  for (const RunFile& file : run.files)
    events += static_cast<double>(file.events + file.phases['M']);
  return compare(row, "events", events, number_of(row.expected, "events")) +
         compare(row, "rank1_ts_shift_us", static_cast<double>(run.files.at(1).offset_ns) / 1000,
                 number_of(row.expected, "rank1_ts_shift_us"));
}

// HTA names a number of candidates whatever they cost; those are the ranks with the longest delays.
std::string check_potential_stragglers(const TruthRow& row) {
  if (row.expected.find("error") != nullptr) return "HTA fails, we do not";
  std::vector<std::pair<std::int64_t, std::int64_t>> delays;
  for (const ReportRow& found : rows_of(stragglers_report(run_of(row)), "rows"))
    delays.emplace_back(-number_in(found, "delay_ns_per_step"), number_in(found, "rank"));
  std::sort(delays.begin(), delays.end());
  std::string differences;
  for (std::size_t i = 0; i < row.expected.items.size(); ++i)
    if (i >= delays.size() || std::to_string(delays[i].second) != row.expected.items[i].text)
      differences += "another rank; ";
  return differences;
}

std::string check_not_offered(const TruthRow&) {
  return "no command tells this";
}

}  // namespace traceloom
