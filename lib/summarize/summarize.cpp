#include "summarize/summarize.h"

#include "run/run.h"
#include "scan/scan_files.h"
#include "summarize/summary_rows.h"

namespace traceloom {
namespace {

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
  if (request.by.name && request.ranks.empty())
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

}  // namespace

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

}  // namespace traceloom
