#include "analysis/reports/operator_memory.h"

#include "analysis/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

using Amount = std::int64_t OperatorMemory::*;

constexpr std::string_view kBefore = "(before the trace)";

// The rank (0 unless rows are by rank), type and number of a device.
using DeviceKey = std::tuple<std::int64_t, std::int32_t, std::int64_t>;

struct DeviceOperators {
  std::map<std::string, OperatorMemory> by_name;
  std::int64_t peak = 0;  // sum over the ranks, each at its own time
};

void add(const OperatorMemory& more, OperatorMemory& sum) {
  for (const Amount amount :
       {&OperatorMemory::calls, &OperatorMemory::self_increase, &OperatorMemory::self_alloc,
        &OperatorMemory::self_count, &OperatorMemory::increase, &OperatorMemory::alloc,
        &OperatorMemory::count, &OperatorMemory::at_peak, &OperatorMemory::at_peak_count,
        &OperatorMemory::unfreed, &OperatorMemory::unfreed_count})
    sum.*amount += more.*amount;
  sum.unfreed_steps = std::max(sum.unfreed_steps, more.unfreed_steps);
}

std::map<DeviceKey, DeviceOperators> gather_operators(const std::vector<DeviceMemory>& devices,
                                                      bool by_rank) {
  std::map<DeviceKey, DeviceOperators> found;
  for (const DeviceMemory& device : devices) {
    DeviceOperators& all = found[{by_rank ? device.rank : 0, device.type, device.device}];
    std::int64_t known = 0;
    for (const auto& [name, memory] : device.operators) {
      add(memory, all.by_name[std::string(name)]);
      known += memory.at_peak;
    }
    all.peak += device.peak().allocated;
    const std::int64_t before = device.peak().allocated - known;
    if (device.has_addresses && !device.is_relative && before > 0)
      all.by_name[std::string(kBefore)].at_peak += before;
  }
  return found;
}

struct NamedMemory {
  std::string name;
  OperatorMemory memory;
};

bool is_any(const OperatorMemory& memory, Amount amount) {
  if (amount != &OperatorMemory::self_alloc) return memory.*amount != 0;
  return memory.self_alloc != 0 || memory.alloc != 0 || memory.self_increase != 0 ||
         memory.increase != 0;
}

// Returns the operators with any `amount`, the largest first, and those after the first `count` as
// one. Totals cannot be added, because nested operators share them.
std::vector<NamedMemory> most_of(const DeviceOperators& all, Amount amount, std::size_t count) {
  std::vector<NamedMemory> found;
  for (const auto& [name, memory] : all.by_name)
    if (is_any(memory, amount)) found.push_back({name, memory});
  std::stable_sort(found.begin(), found.end(), [&](const NamedMemory& a, const NamedMemory& b) {
    return std::pair{a.memory.*amount, a.memory.alloc} >
           std::pair{b.memory.*amount, b.memory.alloc};
  });
  if (count == 0 || found.size() <= count + 1) return found;
  NamedMemory others{fmt::format("({} others)", found.size() - count), {}};
  for (std::size_t i = count; i < found.size(); ++i) add(found[i].memory, others.memory);
  others.memory.alloc = others.memory.count = others.memory.increase = kNotGiven;
  found.resize(count);
  found.push_back(std::move(others));
  return found;
}

struct AmountColumn {
  Column column;
  Amount amount;
};

// Makes one table: rank and device, amounts, name.
Table table_of(const std::map<DeviceKey, DeviceOperators>& devices, const MemoryOptions& options,
               Amount order, const std::vector<AmountColumn>& amounts, bool with_share) {
  std::vector<Column> columns;
  if (options.by_rank) columns.push_back({"rank", "Rank", ColumnKind::count});
  columns.push_back({"device", "Device", ColumnKind::text});
  if (with_share) columns.push_back({"share", "Share", ColumnKind::share});
  for (const AmountColumn& amount : amounts) columns.push_back(amount.column);
  columns.push_back({"name", "Operator", ColumnKind::text});
  Table table(columns);
  for (const auto& [key, all] : devices)
    for (const auto& [name, memory] : most_of(all, order, options.operators)) {
      std::vector<Cell> cells;
      cells.reserve(columns.size());
      if (options.by_rank) cells.emplace_back(std::get<0>(key));
      cells.emplace_back(memory_device_name(std::get<1>(key), std::get<2>(key)));
      if (with_share) cells.push_back(share_cell(memory.*order, all.peak));
      for (const AmountColumn& amount : amounts) cells.push_back(told(memory.*(amount.amount)));
      cells.emplace_back(name);
      table.add_row(std::move(cells));
    }
  return table;
}

}  // namespace

void append_operator_tables(const std::vector<DeviceMemory>& devices, const MemoryOptions& options,
                            Report& report) {
  const std::map<DeviceKey, DeviceOperators> found = gather_operators(devices, options.by_rank);
  report.tables.push_back(
      {"operators", "Who allocates",
       table_of(
           found, options, &OperatorMemory::self_alloc,
           {{{"calls", "Calls", ColumnKind::count}, &OperatorMemory::calls},
            {{"self_alloc_bytes", "Self", ColumnKind::bytes}, &OperatorMemory::self_alloc},
            {{"self_count", "Allocs", ColumnKind::count, Readers::some},
             &OperatorMemory::self_count},
            {{"self_increase_bytes", "Kept", ColumnKind::bytes, Readers::most},
             &OperatorMemory::self_increase},
            {{"alloc_bytes", "Total", ColumnKind::bytes, Readers::most}, &OperatorMemory::alloc},
            {{"count", "Allocs", ColumnKind::count, Readers::some}, &OperatorMemory::count},
            {{"increase_bytes", "Kept", ColumnKind::bytes, Readers::some},
             &OperatorMemory::increase}},
           false)});
  report.tables.push_back(
      {"peak", "Who had allocated what was there at the peak",
       table_of(found, options, &OperatorMemory::at_peak,
                {{{"bytes", "Bytes", ColumnKind::bytes}, &OperatorMemory::at_peak},
                 {{"count", "Allocs", ColumnKind::count}, &OperatorMemory::at_peak_count}},
                true)});
  report.tables.push_back(
      {"unfreed", "Who allocated what was never freed",
       table_of(found, options, &OperatorMemory::unfreed,
                {{{"bytes", "Bytes", ColumnKind::bytes}, &OperatorMemory::unfreed},
                 {{"count", "Allocs", ColumnKind::count}, &OperatorMemory::unfreed_count},
                 {{"steps", "In steps", ColumnKind::count}, &OperatorMemory::unfreed_steps}},
                false)});
}

}  // namespace traceloom
