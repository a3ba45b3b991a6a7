#include "comparison/captures/row_times.h"

#include "analysis/waits/step_roles.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr std::uint32_t kNoLabel = std::numeric_limits<std::uint32_t>::max();

// The parts of a collective.
enum class Part : std::uint8_t { whole, wait, transfer };

std::string_view suffix_of(Part part) {
  if (part == Part::whole) return "";
  return part == Part::wait ? kWaitSuffix : kTransferSuffix;
}

// An event, or a part of one, with its row: the labels of its operator and of itself, and its
// module.
struct RoleSpan {
  Interval time;
  std::uint32_t op;
  std::uint32_t label;
  std::uint32_t module;
  Part part = Part::whole;
};

struct LabelSums {
  std::int64_t exclusive_ns = 0;
  std::int64_t total_ns = 0;
  std::int64_t count = 0;
};
// Operator, event, module.
using RowLabels = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, Part>;
using SumsOfLabels = std::map<RowLabels, LabelSums>;

RowLabels labels_of(const RoleSpan& span) {
  return {span.op, span.label, span.module, span.part};
}

std::uint32_t operator_label(const Operators& operators, const DeviceSpan& span) {
  const std::uint32_t launcher = operators.launcher_of(span);
  return launcher == kNoOperator ? kNoLabel : operators.nodes()[launcher].label;
}

std::string_view name_of(const Run& run, std::uint32_t label) {
  return label == kNoLabel ? "" : run.labels.name(label);
}

// Collects the spans of each role that have an instant in the windows.
class RoleSpans {
 public:
  RoleSpans(const RowSources& sources, const Interval& around) {
    const Run& run = sources.run;
    const Operators& operators = sources.operators;
    const LaunchModules& modules = sources.modules;
    const bool has_devices = sources.events().has_devices();
    const auto is_around = [&](const HostSpan& span) {
      return span.end_ns >= around.from_ns && span.start_ns < around.to_ns;
    };
    for_each_role_span(
        run, sources.events(),
        [&](Role role, const HostSpan& span) {
          const bool is_work = role == Role::cpu && !has_devices;
          if (is_around(span))
            add_span(sources, role,
                     {span.interval(), kNoLabel, span.label,
                      is_work ? modules.around(span) : kNoModule});
        },
        [&](Role role, const DeviceSpan& span) {
          if (is_around(span))
            add_span(sources, role,
                     {span.interval(), operator_label(operators, span), span.label,
                      modules.of_launch(span)});
        });
    sort(run, modules);
  }

  const std::vector<RoleSpan>& of(std::size_t role) const { return spans_[role]; }

 private:
  void sort(const Run& run, const LaunchModules& modules) {
    // The longest of the events that begin together comes first; names make the order of the rest
    // the same for any order of the files.
    const auto earlier = [&](const RoleSpan& a, const RoleSpan& b) {
      if (a.time.from_ns != b.time.from_ns) return a.time.from_ns < b.time.from_ns;
      if (a.time.to_ns != b.time.to_ns) return a.time.to_ns > b.time.to_ns;
      if (a.part != b.part) return a.part < b.part;
      const auto names = [&](const RoleSpan& span) {
        return std::tuple(name_of(run, span.label), name_of(run, span.op),
                          modules.name(span.module));
      };
      return names(a) < names(b);
    };
    for (std::vector<RoleSpan>& spans : spans_)
      if (!std::is_sorted(spans.begin(), spans.end(), earlier))
        // Several runs in order, of streams and threads: merging takes less than std::sort.
        std::stable_sort(spans.begin(), spans.end(), earlier);
  }

  void add_span(const RowSources& sources, Role role, RoleSpan span) {
    std::vector<RoleSpan>& spans = spans_[static_cast<std::size_t>(role)];
    const std::optional<std::int64_t> transfer_ns =
        role == Role::communication ? sources.transfers.of(sources.rank, span.time) : std::nullopt;
    if (transfer_ns) {
      const std::int64_t arrived_ns = span.time.to_ns - *transfer_ns;
      if (arrived_ns > span.time.from_ns)
        spans.push_back(
            {{span.time.from_ns, arrived_ns}, span.op, span.label, span.module, Part::wait});
      span.time.from_ns = arrived_ns;
      span.part = Part::transfer;
    }
    spans.push_back(span);
  }

  std::array<std::vector<RoleSpan>, kRoleCount> spans_;
};

// Adds events to the window in which they begin.
void count_events(const std::vector<RoleSpan>& spans, const Intervals& windows,
                  SumsOfLabels& sums) {
  auto window = windows.begin();
  for (const RoleSpan& span : spans) {
    while (window != windows.end() && window->to_ns <= span.time.from_ns) ++window;
    if (window == windows.end()) return;
    if (span.time.from_ns < window->from_ns) continue;
    LabelSums& sum = sums[labels_of(span)];
    add_to(sum.total_ns, length_ns(span.time));
    if (span.part != Part::wait) ++sum.count;
  }
}

// Gives each instant of `free` to the event that began first. Returns the instants that some event
// has.
Intervals share_out(const std::vector<RoleSpan>& spans, const Intervals& free, SumsOfLabels& sums) {
  IntervalLengths lengths(free);
  Intervals taken;
  std::int64_t done_ns = std::numeric_limits<std::int64_t>::min();
  for (const RoleSpan& span : spans) {
    const Interval rest{std::max(span.time.from_ns, done_ns), span.time.to_ns};
    if (rest.to_ns <= rest.from_ns) continue;
    done_ns = rest.to_ns;
    taken.push_back(rest);
    if (const std::int64_t ns = lengths.in(rest); ns > 0)
      add_to(sums[labels_of(span)].exclusive_ns, ns);
  }
  return unite(std::move(taken));
}

}  // namespace

RowKey device_key(const RowSources& sources, Role role, const DeviceSpan& span) {
  return {role, std::string(name_of(sources.run, operator_label(sources.operators, span))),
          std::string(name_of(sources.run, span.label)),
          std::string(sources.modules.name(sources.modules.of_launch(span)))};
}

std::vector<CaptureRow> find_row_times(const RowSources& sources, const Intervals& windows) {
  if (windows.empty()) return {};
  const Run& run = sources.run;
  const RoleSpans spans(sources, {windows.front().from_ns, windows.back().to_ns});
  // Labels with one name and several categories are one row.
  std::map<RowKey, CaptureRow> rows;
  Intervals free = unite(windows);
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    SumsOfLabels sums;
    count_events(spans.of(i), windows, sums);
    free = subtract(free, share_out(spans.of(i), free, sums));
    for (const auto& [labels, sum] : sums) {
      const auto& [op, label, module, part] = labels;
      const RowKey key{static_cast<Role>(i), std::string(name_of(run, op)),
                       std::string(name_of(run, label)).append(suffix_of(part)),
                       std::string(sources.modules.name(module))};
      CaptureRow& row = rows.try_emplace(key, CaptureRow{key}).first->second;
      add_to(row.exclusive_ns, sum.exclusive_ns);
      add_to(row.total_ns, sum.total_ns);
      row.count += sum.count;
    }
  }
  const RowKey rest{Role::other, "", ""};
  rows.try_emplace(rest, CaptureRow{rest}).first->second.exclusive_ns = total_ns(free);
  std::vector<CaptureRow> list;
  list.reserve(rows.size());
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  return list;
}

}  // namespace traceloom
