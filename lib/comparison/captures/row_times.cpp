#include "comparison/captures/row_times.h"

#include "analysis/waits/step_roles.h"
#include "base/string_table.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace traceloom {
namespace {

constexpr std::uint32_t kNoLabel = std::numeric_limits<std::uint32_t>::max();

// The parts of a collective.
enum class Part : std::uint32_t { whole, wait, transfer };

std::string_view suffix_of(Part part) {
  if (part == Part::whole) return "";
  return part == Part::wait ? kWaitSuffix : kTransferSuffix;
}

// RowLabels identify a row before it gets its names: they are the labels of its operator and of its
// events.
struct RowLabels {
  std::uint32_t role;
  std::uint32_t op;
  std::uint32_t label;
  std::uint32_t module;
  Part part = Part::whole;

  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};
static_assert(std::has_unique_object_representations_v<RowLabels>);

// An event, or a part of one, with the number of its row.
struct RoleSpan {
  Interval time;
  std::uint32_t row;
};

struct RowSums {
  std::int64_t exclusive_ns = 0;
  std::int64_t total_ns = 0;
  std::int64_t count = 0;

  bool empty() const { return exclusive_ns == 0 && total_ns == 0 && count == 0; }
};

std::uint32_t operator_label(const Operators& operators, const DeviceSpan& span) {
  const std::uint32_t launcher = operators.launcher_of(span);
  return launcher == kNoOperator ? kNoLabel : operators.nodes()[launcher].label;
}

std::string_view name_of(const Run& run, std::uint32_t label) {
  return label == kNoLabel ? "" : run.labels.name(label);
}

// Collects the spans of each role that have an instant in the windows, and numbers their rows.
class RoleSpans {
 public:
  RoleSpans(const RowSources& sources, const Interval& around) : sources_(sources) {
    const bool has_devices = sources.events().has_devices();
    const auto is_around = [&](const HostSpan& span) {
      return span.end_ns >= around.from_ns && span.start_ns < around.to_ns;
    };
    for_each_role_span(
        sources.run, sources.events(),
        [&](Role role, const HostSpan& span) {
          const bool is_work = role == Role::cpu && !has_devices;
          if (is_around(span))
            add_span(role, span.interval(), kNoLabel, span.label,
                     is_work ? sources.modules.around(span) : kNoModule);
        },
        [&](Role role, const DeviceSpan& span) {
          if (is_around(span))
            add_span(role, span.interval(), operator_label(sources.operators, span), span.label,
                     sources.modules.of_launch(span));
        });
    sort();
  }

  const std::vector<RoleSpan>& of(std::size_t role) const { return spans_[role]; }
  const std::vector<RowLabels>& rows() const { return rows_; }
  bool is_wait(const RoleSpan& span) const { return rows_[span.row].part == Part::wait; }

 private:
  void sort() {
    // The longest of the events that begin together comes first; names make the order of the rest
    // the same for any order of the files.
    const auto earlier = [&](const RoleSpan& a, const RoleSpan& b) {
      if (a.time.from_ns != b.time.from_ns) return a.time.from_ns < b.time.from_ns;
      if (a.time.to_ns != b.time.to_ns) return a.time.to_ns > b.time.to_ns;
      if (a.row == b.row) return false;
      const RowLabels& one = rows_[a.row];
      const RowLabels& other = rows_[b.row];
      return one.part != other.part ? one.part < other.part : names(one) < names(other);
    };
    for (std::vector<RoleSpan>& spans : spans_)
      if (!std::is_sorted(spans.begin(), spans.end(), earlier))
        // Several runs in order, of streams and threads: merging takes less than std::sort.
        std::stable_sort(spans.begin(), spans.end(), earlier);
  }

  std::tuple<std::string_view, std::string_view, std::string_view> names(
      const RowLabels& row) const {
    return {name_of(sources_.run, row.label), name_of(sources_.run, row.op),
            sources_.modules.name(row.module)};
  }

  void add_span(Role role, Interval time, std::uint32_t op, std::uint32_t label,
                std::uint32_t module) {
    std::vector<RoleSpan>& spans = spans_[static_cast<std::size_t>(role)];
    RowLabels row{static_cast<std::uint32_t>(role), op, label, module};
    const std::optional<std::int64_t> transfer_ns =
        role == Role::communication ? sources_.transfers.of(sources_.rank, time) : std::nullopt;
    if (transfer_ns) {
      const std::int64_t arrived_ns = time.to_ns - *transfer_ns;
      row.part = Part::wait;
      if (arrived_ns > time.from_ns) spans.push_back({{time.from_ns, arrived_ns}, number_of(row)});
      time.from_ns = arrived_ns;
      row.part = Part::transfer;
    }
    spans.push_back({time, number_of(row)});
  }

  std::uint32_t number_of(const RowLabels& row) {
    const std::uint32_t number = numbers_.intern(row.bytes());
    if (number == rows_.size()) rows_.push_back(row);
    return number;
  }

  const RowSources& sources_;
  StringTable numbers_;
  std::vector<RowLabels> rows_;  // by number
  std::array<std::vector<RoleSpan>, kRoleCount> spans_;
};

// Adds the events of a role to the window in which they begin.
void count_events(const RoleSpans& all, std::size_t role, const Intervals& windows,
                  std::vector<RowSums>& sums) {
  auto window = windows.begin();
  for (const RoleSpan& span : all.of(role)) {
    while (window != windows.end() && window->to_ns <= span.time.from_ns) ++window;
    if (window == windows.end()) return;
    if (span.time.from_ns < window->from_ns) continue;
    RowSums& sum = sums[span.row];
    add_to(sum.total_ns, length_ns(span.time));
    if (!all.is_wait(span)) ++sum.count;
  }
}

// Gives each instant of `free` to the event that began first. Returns the instants that some event
// has.
Intervals share_out(const std::vector<RoleSpan>& spans, const Intervals& free,
                    std::vector<RowSums>& sums) {
  IntervalLengths lengths(free);
  Intervals taken;
  std::int64_t done_ns = std::numeric_limits<std::int64_t>::min();
  for (const RoleSpan& span : spans) {
    const Interval rest{std::max(span.time.from_ns, done_ns), span.time.to_ns};
    if (rest.to_ns <= rest.from_ns) continue;
    done_ns = rest.to_ns;
    taken.push_back(rest);
    if (const std::int64_t ns = lengths.in(rest); ns > 0) add_to(sums[span.row].exclusive_ns, ns);
  }
  return unite(std::move(taken));
}

RowKey key_of(const RowSources& sources, const RowLabels& row) {
  return {static_cast<Role>(row.role), std::string(name_of(sources.run, row.op)),
          std::string(name_of(sources.run, row.label)).append(suffix_of(row.part)),
          std::string(sources.modules.name(row.module))};
}

}  // namespace

RowKey device_key(const RowSources& sources, Role role, const DeviceSpan& span) {
  return key_of(sources, {static_cast<std::uint32_t>(role), operator_label(sources.operators, span),
                          span.label, sources.modules.of_launch(span)});
}

std::vector<CaptureRow> find_row_times(const RowSources& sources, const Intervals& windows) {
  if (windows.empty()) return {};
  const RoleSpans spans(sources, {windows.front().from_ns, windows.back().to_ns});
  std::vector<RowSums> sums(spans.rows().size());
  Intervals free = unite(windows);
  for (std::size_t role = 0; role < kRoleCount; ++role) {
    count_events(spans, role, windows, sums);
    free = subtract(free, share_out(spans.of(role), free, sums));
  }
  // Labels with one name and several categories are one row.
  std::map<RowKey, CaptureRow> rows;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].empty()) continue;
    const RowKey key = key_of(sources, spans.rows()[i]);
    CaptureRow& row = rows.try_emplace(key, CaptureRow{key}).first->second;
    add_to(row.exclusive_ns, sums[i].exclusive_ns);
    add_to(row.total_ns, sums[i].total_ns);
    row.count += sums[i].count;
  }
  const RowKey rest{Role::other, "", ""};
  rows.try_emplace(rest, CaptureRow{rest}).first->second.exclusive_ns = total_ns(free);
  std::vector<CaptureRow> list;
  list.reserve(rows.size());
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  return list;
}

}  // namespace traceloom
