#include "analysis/kernels_report.h"

#include "analysis/percentile.h"
#include "base/ascii.h"
#include "output/json_writer.h"
#include "run/details.h"
#include "run/operators.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

namespace traceloom {
namespace {

constexpr std::int64_t kShortNs = 10'000;

struct KernelKey {
  std::int64_t rank = 0;
  std::string_view name;
  std::string_view op;
  std::string_view grid;
  std::string_view block;
  std::optional<std::int64_t> registers;
  std::optional<std::int64_t> shared_memory;

  friend bool operator<(const KernelKey& a, const KernelKey& b) { return a.parts() < b.parts(); }

 private:
  std::tuple<std::int64_t, std::string_view, std::string_view, std::string_view, std::string_view,
             std::optional<std::int64_t>, std::optional<std::int64_t>>
  parts() const {
    return {rank, name, op, grid, block, registers, shared_memory};
  }
};

// A mean by duration, of the kernels that tell the number.
struct Weighted {
  double sum = 0;
  double weight = 0;
  std::size_t count = 0;
  double plain = 0;

  void add(const std::optional<double>& number, std::int64_t ns) {
    if (!number) return;
    sum += *number * static_cast<double>(ns);
    weight += static_cast<double>(ns);
    plain += *number;
    ++count;
  }
  Cell mean() const {
    if (weight > 0) return sum / weight;
    return count > 0 ? Cell{plain / static_cast<double>(count)} : Cell{};
  }
};

struct KernelGroup {
  std::vector<std::int64_t> times;
  std::int64_t total_ns = 0;
  Weighted blocks;
  Weighted occupancy;
};

using Groups = std::map<KernelKey, KernelGroup>;

KernelKey key_of(const Run& run, const RankEvents& rank, const Operators* operators,
                 const KernelsOptions& options, const DeviceSpan& span) {
  KernelKey key;
  if (options.by_rank) key.rank = rank.rank;
  key.name = run.labels.name(span.label);
  if (operators != nullptr) {
    const std::uint32_t node = operators->of_correlation(span.correlation);
    if (node != kNoOperator) key.op = run.labels.name(operators->nodes()[node].label);
  }
  if (options.by_launch && span.detail != kNoDetail) {
    const std::string_view details = run.details[span.detail];
    key.grid = find_detail(details, "grid");
    key.block = find_detail(details, "block");
    key.registers = find_integer(details, "registers per thread");
    key.shared_memory = find_integer(details, "shared memory");
  }
  return key;
}

Groups group_kernels(const Run& run, const KernelsOptions& options) {
  Groups groups;
  for (const RankEvents& rank : run.ranks) {
    const auto operators = options.by_operator ? std::make_unique<Operators>(run, rank) : nullptr;
    rank.for_each_device([&](const DeviceSpan& span) {
      const Role role = run.labels.kind(span.label).role;
      if (role != Role::kernel && role != Role::communication) return;
      KernelGroup& group = groups[key_of(run, rank, operators.get(), options, span)];
      const std::int64_t ns = span.end_ns - span.start_ns;
      group.times.push_back(ns);
      group.total_ns += ns;
      if (span.detail == kNoDetail) return;
      const std::string_view details = run.details[span.detail];
      group.blocks.add(find_number(details, "blocks per SM"), ns);
      group.occupancy.add(find_number(details, "est. achieved occupancy %"), ns);
    });
  }
  return groups;
}

std::vector<Column> columns_for(const KernelsOptions& options) {
  std::vector<Column> columns;
  if (options.by_rank) columns.push_back({"rank", "Rank", ColumnKind::count});
  const std::vector<Column> numbers{{"share", "Time %", ColumnKind::share},
                                    {"total_ns", "Total", ColumnKind::duration},
                                    {"count", "Count", ColumnKind::count},
                                    {"mean_ns", "Avg", ColumnKind::duration},
                                    {"min_ns", "Min", ColumnKind::duration},
                                    {"p50_ns", "Med", ColumnKind::duration},
                                    {"p90_ns", "P90", ColumnKind::duration},
                                    {"p99_ns", "P99", ColumnKind::duration},
                                    {"max_ns", "Max", ColumnKind::duration},
                                    {"blocks_per_sm", "Blocks/SM", ColumnKind::number},
                                    {"occupancy", "Occup. %", ColumnKind::number},
                                    {"tensor_core", "TC", ColumnKind::count}};
  columns.insert(columns.end(), numbers.begin(), numbers.end());
  if (options.by_launch) {
    columns.push_back({"grid", "Grid", ColumnKind::text});
    columns.push_back({"block", "Block", ColumnKind::text});
    columns.push_back({"registers", "Regs", ColumnKind::count});
    columns.push_back({"shared_memory", "Shared", ColumnKind::count});
  }
  if (options.by_operator) columns.push_back({"op", "Operator", ColumnKind::text});
  columns.push_back({"name", "Name", ColumnKind::text});
  return columns;
}

Cell text_or_nothing(std::string_view text) {
  return text.empty() ? Cell{} : Cell{std::string(text)};
}

Cell number_or_nothing(const std::optional<std::int64_t>& number) {
  return number ? Cell{*number} : Cell{};
}

std::vector<Cell> cells_of(const KernelKey& key, const KernelGroup& group, std::int64_t all_ns,
                           const KernelsOptions& options) {
  std::vector<Cell> cells;
  if (options.by_rank) cells.emplace_back(key.rank);
  const double share =
      all_ns > 0 ? static_cast<double>(group.total_ns) / static_cast<double>(all_ns) : 0;
  cells.emplace_back(share);
  cells.emplace_back(group.total_ns);
  cells.emplace_back(static_cast<std::int64_t>(group.times.size()));
  cells.emplace_back(mean(group.times));
  cells.emplace_back(*std::min_element(group.times.begin(), group.times.end()));
  for (const std::size_t percent : {50, 90, 99, 100})
    cells.emplace_back(percentile(group.times, percent));
  cells.push_back(group.blocks.mean());
  cells.push_back(group.occupancy.mean());
  cells.emplace_back(std::int64_t{uses_tensor_cores(key.name) ? 1 : 0});
  if (options.by_launch) {
    cells.push_back(text_or_nothing(key.grid));
    cells.push_back(text_or_nothing(key.block));
    cells.push_back(number_or_nothing(key.registers));
    cells.push_back(number_or_nothing(key.shared_memory));
  }
  if (options.by_operator) cells.push_back(text_or_nothing(key.op));
  cells.emplace_back(std::string(key.name));
  return cells;
}

std::string totals_json(const Groups& groups, std::int64_t all_ns) {
  std::size_t count = 0;
  std::size_t short_ones = 0;
  std::int64_t tensor_ns = 0;
  for (const auto& [key, group] : groups) {
    count += group.times.size();
    short_ones += static_cast<std::size_t>(std::count_if(
        group.times.begin(), group.times.end(), [](std::int64_t ns) { return ns < kShortNs; }));
    if (uses_tensor_cores(key.name)) tensor_ns += group.total_ns;
  }
  const auto part = [](auto some, auto all) {
    return all > 0 ? static_cast<double>(some) / static_cast<double>(all) : 0.0;
  };
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("kernels");
  json.value(count);
  json.key("total_ns");
  json.value(all_ns);
  json.key("short_share");
  json.value(part(short_ones, count));
  json.key("tensor_core_share");
  json.value(part(tensor_ns, all_ns));
  json.end_object();
  return text;
}

}  // namespace

bool uses_tensor_cores(std::string_view kernel) {
  static constexpr std::string_view kParts[] = {
      "h884",  "s884",      "h1688",     "s1688",     "c1688",      "hmma",       "i8816",
      "16816", "16832",     "xmma_gemm", "xmma_conv", "xmma_fprop", "xmma_dgrad", "xmma_wgrad",
      "wgmma", "sm90_xmma", "sm80_xmma", "tensorop",  "bf16gemm",   "i16832"};
  const std::string lower = to_lower(kernel);
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

Report kernels_report(const Run& run, const KernelsOptions& options) {
  const Groups groups = group_kernels(run, options);
  std::int64_t all_ns = 0;
  for (const auto& [key, group] : groups) all_ns += group.total_ns;
  Table table(columns_for(options));
  for (const auto& [key, group] : groups) table.add_row(cells_of(key, group, all_ns, options));
  table.sort_by("total_ns");
  Report report("kernels", run);
  report.values.emplace_back("totals", totals_json(groups, all_ns));
  if (groups.empty())
    report.notes.emplace_back("no device activity in these traces: no kernels to tell of");
  report.tables.push_back({"rows", "", std::move(table)});
  return report;
}

}  // namespace traceloom
