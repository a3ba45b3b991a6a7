#include "summarize/summarize.h"

#include "base/arithmetic.h"
#include "base/string_table.h"
#include "event/event.h"
#include "output/json_writer.h"
#include "run/run.h"
#include "scan/scan_files.h"
#include "table/columns.h"
#include "table/table_formats.h"
#include "team/wire.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <future>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#define XXH_INLINE_ALL  // xxHash needs this macro to be used without its library
#include <xxhash.h>

namespace traceloom {
namespace {

// What stands for the category of spans that only their row tells to be of a device.
constexpr std::string_view kDeviceRowCategory = "(device row)";

[[noreturn]] void throw_too_many_rows(std::size_t most) {
  throw UsageError(
      fmt::format("the summary has more than {} rows; do names hold the numbers of requests? "
                  "--filter or --category choose some, --max-rows takes more, at some 2 KB each",
                  format_count(most)));
}

// The spans of a row that one process of a team has read.
struct RowSpans {
  std::int64_t rank = 0;
  std::string name;
  EventSide side = EventSide::host;
  std::set<std::string> categories;
  DurationValues durations;
};

// RowCollector: spans by their rows.
//
//   RowCollector rows({.name = true}, most);
//   rows.of(0, "aten::mm", "cpu_op", EventSide::host).durations.add(1500);
//   std::vector<SummaryRow> result = rows.compute(2);
//
// Not thread-safe.
class RowCollector {
 public:
  // of() throws UsageError if there are more rows than `most`.
  explicit RowCollector(SummaryGrouping by,
                        std::size_t most = std::numeric_limits<std::size_t>::max())
      : by_(by), most_(most) {}

  // Returns the row of such spans, which does not move. What rows are not grouped by has no effect;
  // `side` belongs to the name.
  RowSpans& of(std::int64_t rank, std::string_view name, std::string_view category,
               EventSide side) {
    if (!by_.name) side = EventSide::host;
    scratch_ = fmt::format("{} {} {} ", by_.rank ? rank : 0, static_cast<int>(side),
                           by_.name ? name.size() : 0);
    if (by_.name) scratch_ += name;
    if (by_.category) scratch_ += category;
    const std::uint32_t number = keys_.intern(scratch_);
    if (number == rows_.size()) rows_.push_back({rank, std::string(name), side, {}, {}});
    if (rows_.size() > most_) throw_too_many_rows(most_);
    rows_[number].categories.emplace(category);
    return rows_[number];
  }

  // Calls use(key, row) for each row; equal keys are of one row, whoever collected it.
  template <typename Use>
  void for_each(Use use) const {
    for (std::uint32_t i = 0; i < rows_.size(); ++i) use(keys_[i], rows_[i]);
  }

  // Returns the rows with their statistics but without their shares, in no particular order. Up to
  // `threads` threads (at least one) compute them; these are plain threads because the thread
  // sanitizer cannot see into TBB. Throws Error if a total does not fit.
  std::vector<SummaryRow> compute(std::size_t threads) {
    constexpr std::size_t kRowsWorthAThread = 64;
    std::vector<SummaryRow> rows(rows_.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < rows.size(); i = next++) rows[i] = make_row(rows_[i]);
    };
    std::vector<std::future<void>> helpers;
    for (std::size_t i = 1; i < std::min(threads, rows.size() / kRowsWorthAThread); ++i)
      helpers.push_back(std::async(std::launch::async, work));
    work();
    for (std::future<void>& helper : helpers) helper.get();
    return rows;
  }

 private:
  SummaryRow make_row(RowSpans& spans) const {
    SummaryRow row;
    if (by_.rank) row.rank = spans.rank;
    if (by_.name) row.name = spans.name;
    if (spans.side == EventSide::device && spans.categories.erase("") > 0)
      spans.categories.emplace(kDeviceRowCategory);
    row.categories.assign(spans.categories.begin(), spans.categories.end());
    row.stats = compute_stats(spans.durations);
    if (!row.stats.total_fits)
      throw Error(
          fmt::format("'{}'", row.name.value_or(join_categories(row))),
          "the total of its durations does not fit 64-bit nanoseconds; leave it out by --filter "
          "or repair the trace");
    return row;
  }

  SummaryGrouping by_;
  std::size_t most_;
  std::string scratch_;
  StringTable keys_;
  std::deque<RowSpans> rows_;
};

// Sets the share of each row in the total of all.
void set_shares(std::vector<SummaryRow>& rows) {
  Uint128 sum = 0;
  for (const SummaryRow& row : rows) sum += static_cast<std::uint64_t>(row.stats.total_ns);
  if (sum == 0) return;
  for (SummaryRow& row : rows)
    row.share = static_cast<double>(static_cast<long double>(row.stats.total_ns) /
                                    static_cast<long double>(sum));
}

// Sorts in the order of the request, see SummaryOrder.
void sort_rows(std::vector<SummaryRow>& rows, SummaryOrder order) {
  const auto by_text = [](const SummaryRow& a, const SummaryRow& b) {
    return std::tie(a.name, a.categories, a.rank) < std::tie(b.name, b.categories, b.rank);
  };
  std::sort(rows.begin(), rows.end(), [&](const SummaryRow& a, const SummaryRow& b) {
    if (order == SummaryOrder::category && a.categories != b.categories)
      return a.categories < b.categories;
    if (order == SummaryOrder::rank && a.rank != b.rank) return a.rank < b.rank;
    const std::int64_t first = value_of(a.stats, order);
    const std::int64_t second = value_of(b.stats, order);
    return first != second ? first > second : by_text(a, b);
  });
}

// The keys are exchanged in so many slices.
constexpr std::uint64_t kSlices = 16;

// Returns the rows of one slice whose keys belong to this process.
std::vector<SummaryRow> rows_of_slice(Team& team, SummaryGrouping by, const RowCollector& own,
                                      std::uint64_t slice, std::size_t threads) {
  std::vector<WireWriter> writers(team.size());
  own.for_each([&](std::string_view key, const RowSpans& row) {
    const std::uint64_t hash = XXH3_64bits(key.data(), key.size());
    if (hash % kSlices == slice) writers[hash / kSlices % team.size()](row);
  });
  std::vector<std::string> messages;
  messages.reserve(writers.size());
  for (WireWriter& writer : writers) messages.push_back(writer.take());
  messages = team.exchange(std::move(messages));
  std::vector<SummaryRow> rows;
  team.agree([&] {
    RowCollector collector(by);
    for (std::string& message : messages) {
      for (WireReader reader(message); !reader.at_end();) {
        RowSpans part;
        reader(part);
        // All parts of a row have its category if rows are grouped by it.
        RowSpans& row = collector.of(part.rank, part.name, *part.categories.begin(), part.side);
        row.categories.merge(part.categories);
        row.durations.append(part.durations);
      }
      message = {};
    }
    rows = collector.compute(threads);
  });
  return rows;
}

// Returns all rows on process 0, and none on the others, in no particular order and without their
// shares. Each row is computed by the process to which the hash of its key belongs: the others send
// it the durations, so that percentiles are exact. This is done for a slice of the keys at a time,
// so the durations that are under way take a small part of the memory of those that were read.
// Throws on all processes what RowCollector throws on one of them, and UsageError for more rows
// than `most`.
std::vector<SummaryRow> exchange_rows(Team& team, SummaryGrouping by, RowCollector& own,
                                      std::size_t most, std::size_t threads) {
  if (team.is_alone()) return own.compute(threads);
  std::vector<SummaryRow> rows;
  for (std::uint64_t slice = 0; slice < kSlices; ++slice)
    for (SummaryRow& row : rows_of_slice(team, by, own, slice, threads))
      rows.push_back(std::move(row));
  std::vector<SummaryRow> all;
  team.gather(to_wire(rows), [&](std::size_t, const std::string& bytes) {
    for (SummaryRow& row : from_wire<std::vector<SummaryRow>>(bytes)) {
      if (all.size() == most) throw_too_many_rows(most);
      all.push_back(std::move(row));
    }
  });
  return all;
}

// Names are counted before ranks and clocks are known, so the rest of a run that has too many is
// not read. Of few kinds of spans there are names and categories; half as many again are let pass.
void check_names(const SummaryRequest& request, std::size_t names) {
  if (names / 3 * 2 > request.max_rows) throw_too_many_rows(request.max_rows);
}

RunRequest run_request(const SummaryRequest& request) {
  RunRequest run{.inputs = request.inputs,
                 .ranks = request.ranks,
                 .time = request.time,
                 .spread = true,
                 .spans = request.filter,
                 .keep_going = request.keep_going,
                 .threads = request.threads,
                 .progress = request.progress,
                 .team = request.team};
  // With these options there are at least as many rows as names.
  if (request.by.name && request.ranks.empty() && !request.time)
    run.check_names = [&request](std::size_t names) { check_names(request, names); };
  return run;
}

// Finds the row of a span. Spans of one label are mostly of one row.
class RowFinder {
 public:
  RowFinder(const Run& run, std::int64_t rank, RowCollector& rows)
      : run_(run), rank_(rank), rows_(rows), host_(run.labels.size()), device_(run.labels.size()) {}

  RowSpans& operator()(const HostSpan& span) {
    const std::string_view category = run_.labels.category(span.label);
    // Spans of producers that give no categories are of a device by their rows.
    const bool on_device = category.empty() && run_.tracks.is_device_row(span.track);
    RowSpans*& row = (on_device ? device_ : host_)[span.label];
    if (row == nullptr) {
      const EventSide side = on_device          ? EventSide::device
                             : category.empty() ? EventSide::host
                                                : event_side(category);
      row = &rows_.of(rank_, run_.labels.name(span.label), category, side);
    }
    return *row;
  }

 private:
  const Run& run_;
  std::int64_t rank_;
  RowCollector& rows_;
  std::vector<RowSpans*> host_;
  std::vector<RowSpans*> device_;
};

// Adds the spans of a rank, and frees them.
void add_rank(const Run& run, RankEvents& rank, RowCollector& rows) {
  RowFinder row_of(run, rank.rank, rows);
  for (EventColumns& part : rank.parts) {
    for (const HostSpan& span : part.spans) row_of(span).durations.add(span.end_ns - span.start_ns);
    part = {};
  }
}

constexpr int kSchemaVersion = 1;
constexpr std::size_t kShownCategories = 3;

std::string short_categories(const SummaryRow& row) {
  if (row.categories.size() <= kShownCategories) return join_categories(row);
  SummaryRow shown;
  shown.categories.assign(row.categories.begin(), row.categories.begin() + kShownCategories);
  return join_categories(shown) + ", ...";
}

bool any_category(const Summary& summary) {
  return std::any_of(summary.rows.begin(), summary.rows.end(), [](const SummaryRow& row) {
    return row.categories.size() > 1 || !row.categories.front().empty();
  });
}

// True if two rows have the same name and differ only in their categories: one of the host, and one
// of a device.
bool has_twins(const Summary& summary) {
  std::set<std::pair<std::optional<std::int64_t>, std::optional<std::string>>> seen;
  return !std::ranges::all_of(
      summary.rows, [&](const SummaryRow& row) { return seen.emplace(row.rank, row.name).second; });
}

// JSON and CSV always have the same columns, in the documented order. Text and Markdown have the
// texts last, because a terminal shortens those, and no column without information.
ColumnsOf<SummaryRow> columns_for(const Summary& summary, bool people) {
  using enum ColumnKind;
  using enum Readers;
  using Row = SummaryRow;
  using Stats = DurationStats;
  const SummaryGrouping& by = summary.by;
  const bool needs_category = by.category || has_twins(summary);
  const ColumnOf<Row> name{"name", "Name", text, !people || by.name, &Row::name};
  const ColumnOf<Row> category{"category",
                               "Category",
                               text,
                               people && !needs_category ? some : all,
                               !people || by.category || any_category(summary),
                               people ? &short_categories : &join_categories};
  const ColumnOf<Row> part{"share", "Time %", share, &Row::share};
  const ColumnOf<Row> spans{"count", "Count", count, path(&Row::stats, &Stats::count)};
  const ColumnOf<Row> total{"total_ns", "Total", duration, path(&Row::stats, &Stats::total_ns)};
  ColumnsOf<Row> columns{{"rank", "Rank", count, by.rank, &Row::rank}};
  const auto append = [&](const ColumnsOf<Row>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
  };
  append(people ? ColumnsOf<Row>{part, total, spans}
                : ColumnsOf<Row>{name, category, spans, total});
  append({
      {"mean_ns", "Avg", duration, most, path(&Row::stats, &Stats::mean_ns)},
      {"min_ns", "Min", duration, few, path(&Row::stats, &Stats::min_ns)},
      {"p50_ns", "Med", duration, some, path(&Row::stats, &Stats::p50_ns)},
      {"p90_ns", "P90", duration, few, path(&Row::stats, &Stats::p90_ns)},
      {"p99_ns", "P99", duration, most, path(&Row::stats, &Stats::p99_ns)},
      {"max_ns", "Max", duration, some, path(&Row::stats, &Stats::max_ns)},
      {"stddev_ns", "StdDev", duration, few, path(&Row::stats, &Stats::stddev_ns)},
  });
  append(people ? ColumnsOf<Row>{category, name} : ColumnsOf<Row>{part});
  return columns;
}

// People are shown the column by which rows are sorted.
Table table_of(const Summary& summary, bool people) {
  Table table = make_table(summary.rows, columns_for(summary, people));
  const std::string_view order = kSummaryOrderNames[static_cast<std::size_t>(summary.order)];
  table.show_to_all(order);
  table.show_to_all(fmt::format("{}_ns", order));
  table.show_in(summary.unit);
  return table;
}

std::string json_document(const Summary& summary) {
  std::string text;
  JsonWriter json(text, 2);
  json.begin_object();
  json.member("schema_version", kSchemaVersion);
  json.member("command", "summarize");
  write_files(json, summary.files);
  json.key("rows");
  append_rows(json, table_of(summary, false));
  write_file_problems(json, summary.files);
  json.end_object();
  text += '\n';
  return text;
}

// The columns with a number stand first in the order of SummaryOrder.
constexpr std::size_t kFields = static_cast<std::size_t>(SummaryOrder::name);
const std::vector<std::string_view> kFieldNames(std::begin(kSummaryOrderNames),
                                                std::begin(kSummaryOrderNames) + kFields);

std::string value_text(SummaryOrder field, std::int64_t value) {
  return field == SummaryOrder::count ? format_count(static_cast<std::uint64_t>(value))
                                      : format_duration(value);
}

// Returns "decode", with its rank and categories where several rows have the name.
std::string row_name(const SummaryRow& row) {
  std::string name = row.name.value_or("");
  if (row.rank) name += fmt::format(" of rank {}", *row.rank);
  const bool has_category = !row.categories.empty() && !row.categories.front().empty();
  if (has_category) name += fmt::format(" ({})", fmt::join(row.categories, ","));
  return name;
}

}  // namespace

std::int64_t value_of(const DurationStats& stats, SummaryOrder order) {
  static constexpr std::array kNumbers{
      &DurationStats::total_ns, &DurationStats::count,  &DurationStats::mean_ns,
      &DurationStats::min_ns,   &DurationStats::p50_ns, &DurationStats::p90_ns,
      &DurationStats::p99_ns,   &DurationStats::max_ns, &DurationStats::stddev_ns};
  const auto place = static_cast<std::size_t>(order);
  return place < kNumbers.size() ? stats.*kNumbers[place] : 0;
}

std::string join_categories(const SummaryRow& row) {
  if (row.categories.size() == 1) return row.categories.front();
  std::string joined;
  for (const std::string& category : row.categories) {
    if (!joined.empty()) joined += "; ";
    joined += category.empty() ? kNoName : category;
  }
  return joined;
}

Summary summarize(const SummaryRequest& request) {
  Team& team = team_or_alone(request.team);
  Run run = read_run(run_request(request));
  RowCollector rows(request.by, request.max_rows);
  team.agree([&] {
    for (RankEvents& rank : run.ranks)
      if (rank.is_here) add_rank(run, rank, rows);
  });
  Summary summary;
  summary.by = request.by;
  summary.order = request.order;
  summary.rows =
      exchange_rows(team, request.by, rows, request.max_rows, thread_count(request.threads));
  if (!team.is_first()) return summary;
  for (const RunFile& file : run.files) {
    summary.files.push_back(file);
    summary.async_spans += file.phases['b'] + file.phases['S'];
  }
  set_shares(summary.rows);
  sort_rows(summary.rows, request.order);
  if (request.top > 0 && summary.rows.size() > request.top) summary.rows.resize(request.top);
  return summary;
}

std::string render_summary(const Summary& summary, TableFormat format, const TextStyle& style) {
  if (format == TableFormat::json) return json_document(summary);
  const Table table = table_of(summary, format != TableFormat::csv);
  if (format != TableFormat::text) return render_table(table, format, style);
  const TextReport report = text_report(table, style);
  return report.has_more ? fmt::format("{}\nnote: {}\n", report.text, kMoreColumnsNote)
                         : report.text;
}

bool LatencyGate::is_of(const SummaryRow& row) const {
  if (!row.name) return false;
  return pattern ? pattern->found_in(*row.name) : *row.name == name;
}

LatencyGate read_latency_gate(const std::string& option, const std::string& text) {
  const GateTerm term = read_gate_term(option, text, kFieldNames);
  if (term.field.empty())
    throw UsageError(fmt::format("{}: '{}' has no field after a dot: {} (try '{}.p99>5ms')", option,
                                 text, fmt::join(kFieldNames, ", "), term.metric()));
  LatencyGate gate{.text = term.text, .name = term.name};
  const auto field = std::find(kFieldNames.begin(), kFieldNames.end(), term.field);
  gate.field = static_cast<SummaryOrder>(field - kFieldNames.begin());
  const bool counts = gate.field == SummaryOrder::count;
  const BoundUnit unit = counts ? BoundUnit::number : BoundUnit::time;
  if (term.bounds.size() != 1 || term.bounds.front().unit != unit || term.bounds.front().is_change)
    throw UsageError(fmt::format("{}: '{}' needs one {} (try '{}>{}')", option, text,
                                 counts ? "number" : "time", term.metric(),
                                 counts ? "100" : "5ms"));
  gate.most = std::llround(std::floor(term.bounds.front().value));
  if (term.pattern && term.name.empty())
    gate.pattern.emplace(*term.pattern);
  else if (term.pattern)
    gate.name += "[" + *term.pattern + "]";  // a name with brackets
  return gate;
}

LatencyAnswer judge(const LatencyGate& gate, const Summary& summary) {
  LatencyAnswer answer;
  for (const SummaryRow& row : summary.rows) {
    if (!gate.is_of(row)) continue;
    ++answer.rows;
    const std::int64_t value = value_of(row.stats, gate.field);
    if (value > gate.most)
      answer.exceeds.push_back(fmt::format("{} has {} {}, more than {}", row_name(row),
                                           kFieldNames[static_cast<std::size_t>(gate.field)],
                                           value_text(gate.field, value),
                                           value_text(gate.field, gate.most)));
  }
  return answer;
}

}  // namespace traceloom
