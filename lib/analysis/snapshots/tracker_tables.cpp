#include "analysis/snapshots/tracker_tables.h"

#include "output/json_writer.h"

#include <functional>
#include <map>
#include <utility>

namespace traceloom {
namespace {

// A TrackedKind names one kind of tensor in a row of a report.
struct TrackedKind {
  const RankedReport* of = nullptr;
  const TrackerRow* row = nullptr;
  std::string_view kind = {};
  Spread spread = {};

  std::int64_t rank() const { return of->rank; }
  std::string_view device() const { return row->device; }
  std::int64_t bytes() const { return bytes_of(*of, *row, kind); }
  std::int64_t total() const { return bytes_of(*of, *row, kTotalKind); }
};
using TrackedKinds = std::vector<TrackedKind>;

// Rows of GPUs that have a key in common get the spread of `bytes` over them.
template <typename KeyOf>
void add_spreads(TrackedKinds& rows, KeyOf key_of, std::int64_t (TrackedKind::*bytes)() const) {
  std::map<decltype(key_of(rows.front())), Spread> spreads;
  for (const TrackedKind& row : rows)
    if (row.device() != "cpu") spreads[key_of(row)].add((row.*bytes)(), row.rank());
  for (TrackedKind& row : rows)
    if (row.device() != "cpu") row.spread = spreads[key_of(row)];
}

bool have_spreads(const TrackedKinds& rows) {
  return std::ranges::any_of(rows, [](const TrackedKind& row) { return row.spread.ranks > 1; });
}

// The first table of a tracker is its last peak, the same in all reports of a rank: of those that
// differ the highest counts.
TrackedKinds kind_rows(const MemoryFiles& files) {
  std::map<std::pair<std::int64_t, std::string_view>, TrackedKind> peaks;
  for (const RankedReport& one : files.reports)
    for (const TrackerRow& row : one.peak) {
      const TrackedKind now{&one, &row};
      TrackedKind& best = peaks.try_emplace({one.rank, row.device}, now).first->second;
      if (now.total() > best.total()) best = now;
    }
  TrackedKinds rows;
  for (const auto& [key, best] : peaks)
    for (const std::string& kind : best.of->kinds)
      if (const TrackedKind row{best.of, best.row, kind}; kind != kTotalKind && row.bytes() != 0)
        rows.push_back(row);
  add_spreads(
      rows, [](const TrackedKind& row) { return row.kind; }, &TrackedKind::bytes);
  std::ranges::stable_sort(rows, std::greater(), [](const TrackedKind& row) {
    return std::pair{row.total(), row.bytes()};
  });
  return rows;
}

Table kind_table(const TrackedKinds& rows) {
  using enum ColumnKind;
  using enum Readers;
  using Row = TrackedKind;
  const bool are_several = have_spreads(rows);
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"device", "Device", text, &Row::device},
      {"share", "Share", share, share_of(&Row::bytes, &Row::total)},
      {"peak_bytes", "At peak", bytes, &Row::bytes},
      {"least_bytes", "Least", bytes, some, are_several, path(&Row::spread, &Spread::least)},
      {"most_bytes", "Most", bytes, some, are_several, path(&Row::spread, &Spread::most)},
      {"most_rank", "Of rank", count, some, are_several, path(&Row::spread, &Spread::most_rank)},
      {"kind", "Kind", text, &Row::kind},
  };
  return make_table(rows, columns);
}

// Returns the highest state of each module on a device, of those that are peaks if there are some,
// with its largest kind.
TrackedKinds module_rows(const MemoryFiles& files) {
  TrackedKinds rows;
  std::map<const RankedReport*, std::int64_t> highest;
  for (const RankedReport& one : files.reports) {
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> places;
    for (const TrackerRow& row : one.modules) {
      const TrackedKind now{&one, &row};
      const auto [at, is_new] = places.try_emplace({row.module, row.device}, rows.size());
      if (is_new) rows.push_back(now);
      const auto weight = [](const TrackedKind& of) {
        return std::pair{of.row->is_peak(), of.total()};
      };
      if (weight(now) > weight(rows[at->second])) rows[at->second] = now;
    }
  }
  for (TrackedKind& row : rows) {
    highest[row.of] = std::max(highest[row.of], row.total());
    for (const std::string& kind : row.of->kinds)
      if (kind != kTotalKind &&
          (row.kind.empty() || bytes_of(*row.of, *row.row, kind) > row.bytes()))
        row.kind = kind;
  }
  const auto key_of = [](const TrackedKind& row) {
    return std::tuple(std::string_view(row.row->module), std::string_view(row.of->function),
                      row.of->iteration);
  };
  add_spreads(rows, key_of, &TrackedKind::total);
  std::ranges::stable_sort(rows, std::greater(),
                           [&](const TrackedKind& row) { return highest[row.of]; });
  return rows;
}

Table module_table(const TrackedKinds& rows) {
  using enum ColumnKind;
  using enum Readers;
  using Row = TrackedKind;
  const bool are_several = have_spreads(rows);
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"device", "Device", text, &Row::device},
      {"function", "Function", text, some, [](auto& of) { return of.of->function; }},
      {"iteration", "Iter", count, some, [](auto& of) { return of.of->iteration; }},
      {"state", "State", text, [](auto& of) { return of.row->state; }},
      {"call", "Call", count, programs, [](auto& of) { return of.row->call; }},
      {"total_bytes", "Total", bytes, &Row::total},
      {"least_bytes", "Least", bytes, some, are_several, path(&Row::spread, &Spread::least)},
      {"most_bytes", "Most", bytes, some, are_several, path(&Row::spread, &Spread::most)},
      {"most_rank", "Of rank", count, some, are_several, path(&Row::spread, &Spread::most_rank)},
      {"largest_kind", "Largest", text, most, &Row::kind},
      {"largest_bytes", "Bytes", bytes, most, &Row::bytes},
      {"module", "Module", text, [](auto& of) { return of.row->module; }},
  };
  return make_table(rows, columns);
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
  const TrackedKinds kinds = kind_rows(files);
  if (!kinds.empty())
    report.headline.push_back(fmt::format(
        "Rank {}: {} peaks at {} in the tracker's last peak; {} holds {} of it.",
        kinds.front().rank(), kinds.front().device(), bytes_words(kinds.front().total()),
        kinds.front().kind, percent_words(kinds.front().bytes(), kinds.front().total())));
  report.tables.push_back({"kinds", "By kind of tensor, at the tracker's last peak",
                           kind_table(kinds), false, "", kRowsForPeople});
  report.tables.push_back({"modules", "The highest state of each module in its iteration",
                           module_table(module_rows(files)), false, "", kRowsForPeople});
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
  using Row = RankedTimeline;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"peak_bytes", "Peak", bytes, &Row::peak},
      {"peak_at_ns", "Peak at", count, programs, &Row::peak_at_ns},
      {"end_bytes", "End", bytes, most, &Row::end},
      {"rows", "Rows", count, some, &Row::rows},
      {"left_out", "Left out", count, programs, &Row::left_out},
      {"file", "File", text, some, &Row::path},
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
