#include "analysis/reports/reports.h"
#include "per_rank/per_rank.h"
#include "table/columns.h"

#include <algorithm>
#include <tuple>

namespace traceloom {
namespace {

struct LongSpan : HostSpan {
  std::int64_t rank = 0;
  std::int64_t step = kNoId;  // number of the step in which it begins
  std::int32_t device = kNoId;
  std::int32_t stream = kNoId;

  std::int64_t duration_ns() const { return end_ns - start_ns; }
};

// Sorts the spans and keeps the first of them. Those of one length that begin together are told
// apart by texts, since numbers of labels depend on the order of the files.
void keep_longest(const Run& run, std::vector<LongSpan>& spans, std::size_t most) {
  const auto key = [&run](const LongSpan& span) {
    return std::tuple(-span.duration_ns(), span.start_ns, span.rank, span.device, span.stream,
                      run.labels.name(span.label), run.labels.category(span.label),
                      run.tracks.tid(span.track));
  };
  std::ranges::sort(spans, [&](const LongSpan& a, const LongSpan& b) { return key(a) < key(b); });
  if (spans.size() > most) spans.resize(most);
}

std::vector<LongSpan> longest_of_rank(const Run& run, const RankEvents& rank, std::size_t most) {
  std::vector<LongSpan> spans;
  std::int64_t least_ns = 0;  // shorter ones are none of the longest
  const auto add = [&](const LongSpan& span) {
    if (span.duration_ns() < least_ns) return;
    spans.push_back(span);
    if (spans.size() < 2 * most) return;
    keep_longest(run, spans, most);
    least_ns = spans.back().duration_ns();
  };
  const auto add_host = [&](const HostSpan& span) { add({span, rank.rank}); };
  rank.for_each_host(add_host);
  rank.for_each_annotation(add_host);
  rank.for_each_frame([&](const HostSpan& span) {
    if (run.labels.kind(span.label).mark != SpanMark::annotation) add_host(span);
  });
  rank.for_each_call(add_host);
  rank.for_each_device([&](const DeviceSpan& span) {
    add({span, rank.rank, kNoId, span.device, span.stream});
  });
  keep_longest(run, spans, most);
  const StepsByTime steps(rank.steps);
  for (LongSpan& span : spans)
    if (const Step* const step = steps.at(span.start_ns)) span.step = step->number;
  return spans;
}

Table longest_table(const Run& run, const std::vector<LongSpan>& longest) {
  using enum ColumnKind;
  using enum Readers;
  const auto if_known = [](auto member) {
    return [member](const LongSpan& span) {
      return cell_if(span.*member != kNoId, std::int64_t{span.*member});
    };
  };
  // A merge gives the rows of devices other numbers.
  const auto thread = [&run](const LongSpan& span) {
    return cell_if(span.device == kNoId, run.tracks.tid(span.track));
  };
  const auto category = [&run](const LongSpan& span) { return run.labels.category(span.label); };
  const auto name = [&run](const LongSpan& span) { return run.labels.name(span.label); };
  return make_table(
      longest, ColumnsOf<LongSpan>{{"duration_ns", "Duration", duration, &LongSpan::duration_ns},
                                   {"start_ns", "Start", duration, &LongSpan::start_ns},
                                   {"rank", "Rank", count, &LongSpan::rank},
                                   {"step", "Step", count, if_known(&LongSpan::step)},
                                   {"thread", "Thread", text, thread},
                                   {"device", "GPU", count, if_known(&LongSpan::device)},
                                   {"stream", "Stream", count, some, if_known(&LongSpan::stream)},
                                   {"category", "Category", text, most, category},
                                   {"name", "Name", text, name}});
}

}  // namespace

Report longest_report(const Run& run, const LongestOptions& options) {
  std::vector<LongSpan> longest;
  const auto find = [&](std::size_t rank) {
    return longest_of_rank(run, run.ranks[rank], options.top);
  };
  for_each_rank<std::vector<LongSpan>>(run, all_ranks(run), find,
                                       [&](std::size_t, const std::vector<LongSpan>& spans) {
                                         longest.insert(longest.end(), spans.begin(), spans.end());
                                         keep_longest(run, longest, options.top);
                                       });
  Table table = longest_table(run, longest);
  Report report("longest", run);
  if (table.rows().empty()) report.notes.emplace_back("no spans in these traces");
  report.tables.push_back({"rows", "", std::move(table)});
  return report;
}

}  // namespace traceloom
