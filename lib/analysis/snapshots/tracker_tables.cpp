#include "analysis/snapshots/tracker_tables.h"

#include "output/json_writer.h"

#include <functional>
#include <map>
#include <utility>

namespace traceloom {
namespace {

struct KindRow {
  std::int64_t rank = 0;
  std::string device;
  std::string kind;
  std::int64_t peak = 0;
  std::int64_t total = 0;
  Spread spread;
};

// The first table of a tracker is its last peak, the same in all reports of a rank: of those that
// differ the highest counts.
std::vector<KindRow> kind_rows(const MemoryFiles& files) {
  using Key = std::pair<std::int64_t, std::string>;
  std::map<Key, std::pair<const TrackerReport*, const TrackerRow*>> peaks;
  for (const RankedReport& one : files.reports)
    for (const TrackerRow& row : one.peak) {
      auto& best = peaks[{one.rank, row.device}];
      if (best.first == nullptr ||
          bytes_of(one, row, kTotalKind) > bytes_of(*best.first, *best.second, kTotalKind))
        best = {&one, &row};
    }
  std::vector<KindRow> rows;
  std::map<std::string, Spread> spreads;
  for (const auto& [key, best] : peaks) {
    const std::int64_t total = bytes_of(*best.first, *best.second, kTotalKind);
    for (const std::string& kind : best.first->kinds) {
      const std::int64_t bytes = bytes_of(*best.first, *best.second, kind);
      if (kind == kTotalKind || bytes == 0) continue;
      rows.push_back({key.first, key.second, kind, bytes, total, {}});
      if (key.second != "cpu") spreads[kind].add(bytes, key.first);
    }
  }
  for (KindRow& row : rows)
    if (row.device != "cpu") row.spread = spreads[row.kind];
  std::ranges::stable_sort(rows, std::greater(), [](const KindRow& row) {
    return std::pair{row.total, row.peak};
  });
  return rows;
}

Table kind_table(const std::vector<KindRow>& rows) {
  using enum ColumnKind;
  using enum Readers;
  const bool are_several =
      std::ranges::any_of(rows, [](const KindRow& row) { return row.spread.ranks > 1; });
  const ColumnsOf<KindRow> columns{
      {"rank", "Rank", count, &KindRow::rank},
      {"device", "Device", text, &KindRow::device},
      {"share", "Share", share, share_of(&KindRow::peak, &KindRow::total)},
      {"peak_bytes", "At peak", bytes, &KindRow::peak},
      {"least_bytes", "Least", bytes, some, are_several, path(&KindRow::spread, &Spread::least)},
      {"most_bytes", "Most", bytes, some, are_several, path(&KindRow::spread, &Spread::most)},
      {"most_rank", "Of rank", count, some, are_several,
       path(&KindRow::spread, &Spread::most_rank)},
      {"kind", "Kind", text, &KindRow::kind},
  };
  return make_table(rows, columns);
}

// The highest state of a module on a device, of those that are peaks if there are some.
struct ModuleRow {
  const RankedReport* of = nullptr;
  const TrackerRow* row = nullptr;
  Spread spread;

  std::int64_t total() const { return bytes_of(*of, *row, kTotalKind); }
  std::string_view largest() const {
    std::string_view kind;
    for (const std::string& one : of->kinds)
      if (one != kTotalKind &&
          (kind.empty() || bytes_of(*of, *row, one) > bytes_of(*of, *row, kind)))
        kind = one;
    return kind;
  }
};

std::vector<ModuleRow> module_rows(const MemoryFiles& files) {
  std::vector<ModuleRow> rows;
  using Key = std::tuple<std::string_view, std::string_view, std::int64_t>;
  std::map<Key, Spread> spreads;
  const auto key_of = [](const ModuleRow& row) {
    return Key(row.row->module, row.of->function, row.of->iteration);
  };
  for (const RankedReport& one : files.reports) {
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> places;
    for (const TrackerRow& row : one.modules) {
      const auto [at, is_new] = places.emplace(
          std::pair<std::string_view, std::string_view>{row.module, row.device}, rows.size());
      if (is_new) rows.push_back({&one, &row, {}});
      ModuleRow& best = rows[at->second];
      const auto weight = [&](const TrackerRow& of) {
        return std::pair{of.is_peak(), bytes_of(one, of, kTotalKind)};
      };
      if (weight(row) > weight(*best.row)) best.row = &row;
    }
  }
  for (const ModuleRow& row : rows)
    if (row.row->device != "cpu") spreads[key_of(row)].add(row.total(), row.of->rank);
  for (ModuleRow& row : rows)
    if (row.row->device != "cpu") row.spread = spreads[key_of(row)];
  std::map<const RankedReport*, std::int64_t> highest;
  for (const ModuleRow& row : rows) highest[row.of] = std::max(highest[row.of], row.total());
  std::ranges::stable_sort(rows, std::greater(),
                           [&](const ModuleRow& row) { return highest[row.of]; });
  return rows;
}

Table module_table(const std::vector<ModuleRow>& rows) {
  using enum ColumnKind;
  using enum Readers;
  const bool are_several =
      std::ranges::any_of(rows, [](const ModuleRow& row) { return row.spread.ranks > 1; });
  const ColumnsOf<ModuleRow> columns{
      {"rank", "Rank", count, [](auto& of) { return of.of->rank; }},
      {"device", "Device", text, [](auto& of) { return of.row->device; }},
      {"function", "Function", text, some, [](auto& of) { return of.of->function; }},
      {"iteration", "Iter", count, some, [](auto& of) { return of.of->iteration; }},
      {"state", "State", text, [](auto& of) { return of.row->state; }},
      {"call", "Call", count, programs, [](auto& of) { return of.row->call; }},
      {"total_bytes", "Total", bytes, &ModuleRow::total},
      {"least_bytes", "Least", bytes, some, are_several, path(&ModuleRow::spread, &Spread::least)},
      {"most_bytes", "Most", bytes, some, are_several, path(&ModuleRow::spread, &Spread::most)},
      {"most_rank", "Of rank", count, some, are_several,
       path(&ModuleRow::spread, &Spread::most_rank)},
      {"largest_kind", "Largest", text, most, &ModuleRow::largest},
      {"largest_bytes", "Bytes", bytes, most,
       [](auto& of) { return bytes_of(*of.of, *of.row, of.largest()); }},
      {"module", "Module", text, [](auto& of) { return of.row->module; }},
  };
  Table table = empty_table(columns);
  for (const ModuleRow& row : rows) add_row(table, columns, row);
  return table;
}

// Programs get all states of all modules, with each kind.
std::string module_states_json(const MemoryFiles& files) {
  std::string text;
  JsonWriter json(text);
  json.begin_array();
  for (const RankedReport& one : files.reports)
    for (const TrackerRow& row : one.modules) {
      json.begin_object();
      write_members(json, "rank", one.rank, "device", row.device, "function", one.function,
                    "iteration", one.iteration, "module", row.module, "state", row.state, "call",
                    row.call);
      write_object(json, "kinds", [&] {
        for (const std::string& kind : one.kinds) json.member(kind, bytes_of(one, row, kind));
      });
      json.end_object();
    }
  json.end_array();
  return text;
}

void add_reports(const MemoryFiles& files, Report& report) {
  const std::vector<KindRow> kinds = kind_rows(files);
  const std::vector<ModuleRow> modules = module_rows(files);
  if (!kinds.empty())
    report.headline.push_back(
        fmt::format("Rank {}: {} peaks at {} in the tracker's last peak; {} holds {} of it.",
                    kinds.front().rank, kinds.front().device, bytes_words(kinds.front().total),
                    kinds.front().kind, percent_words(kinds.front().peak, kinds.front().total)));
  report.tables.push_back({"kinds", "By kind of tensor, at the tracker's last peak",
                           kind_table(kinds), false, "", kRowsForPeople});
  report.tables.push_back({"modules", "The highest state of each module in its iteration",
                           module_table(modules), false, "", kRowsForPeople});
  report.values.emplace_back("module_states", module_states_json(files));
  for (const RankedReport& one : files.reports) {
    const std::string what =
        fmt::format("{}: iteration {} of {}", one.path, one.iteration, one.function);
    if (one.is_cut)
      report.notes.push_back(what + ": the report is cut; what is whole of it was read");
    if (one.left_out > 0)
      report.notes.push_back(
          fmt::format("{}: {} of another form left out", what, count_of(one.left_out, "line")));
    if (one.peak.empty()) report.notes.push_back(what + ": no memory was tracked");
  }
  if (std::ranges::any_of(files.reports, [](auto& one) { return one.is_rounded; }))
    report.notes.emplace_back(
        "bytes of modules are rounded in the reports of trackers, to two digits of their unit");
}

// --- timelines and stats

Table timeline_table(const MemoryFiles& files) {
  using enum ColumnKind;
  using enum Readers;
  const ColumnsOf<RankedTimeline> columns{
      {"rank", "Rank", count, &RankedTimeline::rank},
      {"peak_bytes", "Peak", bytes, &RankedTimeline::peak},
      {"peak_at_ns", "Peak at", count, programs, &RankedTimeline::peak_at_ns},
      {"end_bytes", "End", bytes, most, &RankedTimeline::end},
      {"rows", "Rows", count, some, &RankedTimeline::rows},
      {"left_out", "Left out", count, programs, &RankedTimeline::left_out},
      {"file", "File", text, some, &RankedTimeline::path},
  };
  return make_table(files.timelines, columns);
}

void add_timelines(const MemoryFiles& files, Report& report) {
  const auto highest =
      std::ranges::max_element(files.timelines, {}, [](auto& one) { return one.peak; });
  if (highest != files.timelines.end() && highest->peak > 0) {
    const auto& parts = highest->at_peak;
    const auto largest = std::ranges::max_element(parts);
    report.headline.push_back(
        fmt::format("Rank {}: its memory timeline peaks at {}; {} is {} of it.", highest->rank,
                    bytes_words(highest->peak),
                    kTimelineCategories[static_cast<std::size_t>(largest - parts.begin())],
                    percent_words(*largest, highest->peak)));
  }
  for (const RankedTimeline& one : files.timelines)
    if (one.left_out > 0)
      report.notes.push_back(
          fmt::format("{}: {} of another form left out", one.path, count_of(one.left_out, "row")));
}

// Ranks whose memory stats count failures.
void add_failures(const MemoryFiles& files, Report& report) {
  std::map<std::pair<std::string, std::int64_t>, double> most;
  for (const MemoryStatsFile& file : files.stats)
    for (const MemorySnapshot& one : file.snapshots)
      for (const char* const name : {"num_ooms", "num_alloc_retries"})
        if (const auto found = one.values.find(name); found != one.values.end())
          most[{name, one.rank}] = std::max(most[{name, one.rank}], found->second);
  for (const auto& [key, number] : most)
    if (number > 0)
      report.headline.push_back(
          fmt::format("Rank {}: {} is {:.0f} in its memory stats.", key.second, key.first, number));
}

}  // namespace

void add_trackers(const MemoryFiles& files, Report& report) {
  add_reports(files, report);
  report.tables.push_back(
      {"timelines", "Memory timelines", timeline_table(files), false, "", kRowsForPeople});
  add_timelines(files, report);
  add_failures(files, report);
}

}  // namespace traceloom
