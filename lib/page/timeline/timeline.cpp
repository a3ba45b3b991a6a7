#include "page/timeline/timeline.h"

#include "base/string_table.h"
#include "page/html/html_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace traceloom {

bool has_epochs(const std::vector<RankRoles>& roles) {
  std::set<std::int64_t> epochs;
  for (const RankRoles& rank : roles)
    for (const StepRoles& step : rank.steps) epochs.insert(step.step.epoch);
  return epochs.size() > 1;
}

std::string step_label(const StepKey& key, bool has_epochs) {
  const std::string label =
      has_epochs ? fmt::format("{}.{}", key.epoch, key.number) : fmt::format("{}", key.number);
  return key.run > 0 ? fmt::format("{} (run {})", label, key.run + 1) : label;
}

namespace {

// A slice as wide as a pixel of a screen of this width is kept in the windows before any other.
constexpr std::int64_t kPixels = 2500;

void append_number(std::string& bytes, std::uint64_t number) {
  for (; number >= 128; number >>= 7U) bytes += static_cast<char>((number & 127U) | 128U);
  bytes += static_cast<char>(number);
}

std::vector<TimelineStep> find_step_times(const std::vector<RankRoles>& roles) {
  std::map<StepKey, Interval> times;
  for (const RankRoles& rank : roles)
    for (const StepRoles& step : rank.steps) {
      if (!step.step.counted) continue;
      const auto [found, is_new] = times.emplace(key_of(step.step), step.step.time);
      if (is_new) continue;
      found->second.from_ns = std::min(found->second.from_ns, step.step.time.from_ns);
      found->second.to_ns = std::max(found->second.to_ns, step.step.time.to_ns);
    }
  const bool epochs = has_epochs(roles);
  std::vector<TimelineStep> steps;
  steps.reserve(times.size());
  for (const auto& [key, time] : times) steps.push_back({key, step_label(key, epochs), time});
  return steps;
}

std::vector<TimelineWindow> find_windows(const std::vector<TimelineStep>& steps,
                                         std::int64_t end_ns) {
  std::vector<TimelineWindow> windows{{"Whole run", {0, end_ns}}};
  if (steps.size() < 2) return windows;
  std::vector<TimelineStep> order = steps;
  std::ranges::stable_sort(order, {},
                           [](const TimelineStep& step) { return length_ns(step.time); });
  const TimelineStep& slowest = order.back();
  const TimelineStep& median = order[(order.size() - 1) / 2];
  windows.push_back({"Slowest step, " + slowest.label, slowest.time});
  windows.push_back({"Median step, " + median.label, median.time});
  return windows;
}

// NameTable numbers the names that are used, within their budget.
class NameTable {
 public:
  NameTable(const Run& run, std::size_t budget, const PageNames* known)
      : run_(run), budget_(budget), known_(known) {}

  std::uint64_t number_of(std::uint32_t label) {
    const auto [found, is_new] = numbers_.emplace(label, 0);
    return is_new ? found->second = number_of_name(run_.labels.name(label)) : found->second;
  }
  std::uint64_t number_of_name(std::string_view text) {
    const std::string name = page_name(text);
    if (known_ != nullptr && known_->contains(name)) return number_of_text(name, 0);
    return bytes_of(name) > budget_ ? number_of_text("(name left out)", 0)
                                    : number_of_text(name, bytes_of(name));
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  // In the page's JSON, in which '<' is "\\u003c".
  static std::size_t bytes_of(std::string_view text) {
    std::size_t bytes = 3;
    for (const char c : text) bytes += c == '<' ? 6 : c == '"' || c == '\\' ? 2 : 1;
    return bytes;
  }
  std::uint64_t number_of_text(const std::string& text, std::size_t bytes) {
    const std::uint32_t number = texts_.intern(text);
    if (number == names_.size()) {
      budget_ -= bytes;
      names_.push_back(text);
    }
    return number;
  }

  const Run& run_;
  std::size_t budget_;
  const PageNames* known_;
  std::unordered_map<std::uint32_t, std::uint64_t> numbers_;
  StringTable texts_;
  std::vector<std::string> names_;
};

// Counts how much of each bin of a window the outermost slices cover, by role.
class Shades {
 public:
  Shades(const Interval& window, std::size_t bins)
      : window_(window),
        step_(std::max(static_cast<double>(window.to_ns - window.from_ns), 1.0) /
              static_cast<double>(std::max<std::size_t>(bins, 1))),
        covered_(bins) {}

  void add(const std::vector<TimelineSlice>& slices) {
    for (const TimelineSlice& slice : slices)
      if (slice.depth == 0) add(slice);
  }
  std::string bytes() const {
    std::string bytes;
    for (const auto& roles : covered_) {
      double sum = 0;
      for (const double part : roles) sum += part;
      if (sum <= 0) {
        bytes += '\0';
        continue;
      }
      const auto role = static_cast<unsigned>(std::ranges::max_element(roles) - roles.begin());
      const auto share =
          static_cast<unsigned>(std::clamp(std::lround(15 * std::min(sum / step_, 1.0)), 1L, 15L));
      bytes += static_cast<char>(role << 4U | share);
    }
    return bytes;
  }

 private:
  void add(const TimelineSlice& slice) {
    const double from =
        static_cast<double>(std::max(slice.start_ns, window_.from_ns) - window_.from_ns);
    const double to = static_cast<double>(std::min(slice.end_ns, window_.to_ns) - window_.from_ns);
    if (to < from || slice.end_ns < window_.from_ns || slice.start_ns > window_.to_ns) return;
    auto bin = static_cast<std::size_t>(from / step_);
    for (; bin < covered_.size(); ++bin) {
      const double start = static_cast<double>(bin) * step_;
      if (start > to) break;
      // A slice without length is seen, too.
      covered_[bin][static_cast<std::size_t>(slice.role)] +=
          std::max(std::min(to, start + step_) - std::max(from, start), 1e-9);
    }
  }

  Interval window_;
  double step_;
  std::vector<std::array<double, kRoleCount>> covered_;
};

bool is_in_window(const TimelineSlice& slice, const TimelineWindow& window) {
  return slice.end_ns >= window.time.from_ns && slice.start_ns <= window.time.to_ns &&
         slice.end_ns - slice.start_ns >= (window.time.to_ns - window.time.from_ns) / kPixels;
}

// The places of slices within their steps, by length: 0 for the longest of its step. Slices that
// begin outside of all steps are after all others.
std::vector<std::size_t> places_in_steps(const std::vector<TimelineSlice>& all,
                                         const std::vector<std::uint32_t>& shown,
                                         const Intervals& steps) {
  constexpr std::size_t kNowhere = ~std::size_t{0};
  std::vector<std::vector<std::uint32_t>> by_step(steps.size());
  std::size_t step = 0;
  for (const std::uint32_t i : shown) {
    while (step < steps.size() && steps[step].to_ns <= all[i].start_ns) ++step;
    if (step < steps.size() && steps[step].from_ns <= all[i].start_ns) by_step[step].push_back(i);
  }
  std::vector<std::size_t> places(all.size(), kNowhere);
  const auto length = [&](std::uint32_t i) { return all[i].end_ns - all[i].start_ns; };
  for (std::vector<std::uint32_t>& list : by_step) {
    std::ranges::stable_sort(list, std::greater(), length);
    for (std::size_t i = 0; i < list.size(); ++i) places[list[i]] = i;
  }
  return places;
}

// Keeps the longest slice of each step, then the slices with a pixel in a window of a step, then
// further ones of each step in turn, and then the longest, in their order. `steps` are by begin.
std::vector<TimelineSlice> keep_slices(const std::vector<TimelineSlice>& all, std::size_t room,
                                       const std::vector<TimelineWindow>& windows,
                                       const Intervals& steps) {
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].depth < kMostDepth) order.push_back(static_cast<std::uint32_t>(i));
  if (order.size() > room) {
    std::vector<std::size_t> places = places_in_steps(all, order, steps);
    for (const std::uint32_t i : order)
      if (places[i] > 0 &&
          std::any_of(windows.begin() + 1, windows.end(),
                      [&](const TimelineWindow& window) { return is_in_window(all[i], window); }))
        places[i] = 1;
    const auto is_better = [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(places[a], all[a].start_ns - all[a].end_ns, a) <
             std::tuple(places[b], all[b].start_ns - all[b].end_ns, b);
    };
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(room), order.end(),
                     is_better);
    order.resize(room);
    std::sort(order.begin(), order.end());
  }
  std::vector<TimelineSlice> kept;
  kept.reserve(order.size());
  for (const std::uint32_t i : order) kept.push_back(all[i]);
  return kept;
}

class TimelineMaker {
 public:
  TimelineMaker(const Run& run, const TimelineLimits& limits, const PageNames* known)
      : limits_(limits),
        names_(
            run,
            std::min(limits.names_bytes,
                     std::max<std::size_t>(26'000, limits.names_bytes_a_rank * run.ranks.size())),
            known) {}

  // `rows_left` is the number of rows that may follow, this one included.
  void add_row(std::int64_t rank, RankRow row, std::size_t rows_left, const Intervals& steps,
               Timeline& to) {
    TimelineRow made{.rank = rank, .label = std::move(row.label), .is_copy = row.is_copy};
    made.deeper = static_cast<std::uint64_t>(std::ranges::count_if(
        row.slices, [](const TimelineSlice& slice) { return slice.depth >= kMostDepth; }));
    made.all_slices = row.slices.size() - made.deeper;
    made.bins = bins_;
    for (const TimelineWindow& window : to.windows) {
      Shades shades(window.time, bins_);
      shades.add(row.slices);
      to.shades += shades.bytes();
    }
    const std::vector<TimelineSlice> kept = keep_slices(
        row.slices, slices_left_ / std::max<std::size_t>(rows_left, 1), to.windows, steps);
    slices_left_ -= kept.size();
    write(kept, made, to);
    to.rows.push_back(std::move(made));
  }
  // The work of devices, or of the host if there is none, as shades of the whole run.
  void add_thin_row(std::int64_t rank, const std::vector<RankRow>& rows, const Intervals& steps,
                    Timeline& to) {
    TimelineRow made{
        .rank = rank, .label = fmt::format("rank {}", rank), .is_thin = true, .is_last = true};
    made.bins = thin_bins_;
    Shades shades(to.windows.front().time, thin_bins_);
    const bool has_devices = !rows.empty() && !rows.front().is_host;
    for (const RankRow& row : rows) {
      made.all_slices += row.slices.size();
      if (!has_devices || !row.is_host) shades.add(row.slices);
    }
    to.shades += shades.bytes();
    if (!rows.empty()) {
      std::vector<TimelineSlice> kept = keep_slices(
          rows.front().slices, std::min(thin_slices_, steps.size()), {to.windows.front()}, steps);
      for (TimelineSlice& slice : kept) slice.depth = 0;
      write(kept, made, to);
    }
    to.rows.push_back(std::move(made));
  }
  // The gaps are those of the rank in full that was added last.
  void add_gaps(IdleGaps gaps, std::size_t room, Timeline& to) {
    if (gaps.size() > room) {
      std::ranges::stable_sort(gaps, std::greater(),
                               [](const IdleGap& gap) { return length_ns(gap.time); });
      gaps.resize(room);
      std::ranges::sort(gaps, {}, [](const IdleGap& gap) { return gap.time.from_ns; });
    }
    to.ranks.back().gaps = gaps.size();
    std::int64_t before_ns = 0;
    for (const IdleGap& gap : gaps) {
      const std::int64_t from_ns = std::max(gap.time.from_ns, before_ns);
      append_number(to.gaps, static_cast<std::uint64_t>(from_ns - before_ns));
      append_number(
          to.gaps, static_cast<std::uint64_t>(std::max<std::int64_t>(gap.time.to_ns - from_ns, 0)));
      append_number(to.gaps, gap.name.empty() ? 0 : names_.number_of_name(gap.name) + 1);
      const bool is_mixed = 10 * (gap.ns / 9) < length_ns(gap.time);
      to.gaps += static_cast<char>(static_cast<unsigned>(gap.row) | (is_mixed ? 32U : 0U));
      before_ns = from_ns;
    }
  }
  void share_room(std::size_t full_rows, std::size_t thin_rows, std::size_t ranks,
                  const Timeline& timeline) {
    const std::size_t windows = timeline.windows.size();
    bins_ =
        std::min(limits_.bins_a_row, limits_.bins / std::max<std::size_t>(full_rows * windows, 1));
    thin_bins_ = std::min<std::size_t>(400, limits_.bins / std::max<std::size_t>(thin_rows, 1));
    thin_slices_ = limits_.thin_slices / std::max<std::size_t>(thin_rows, 1);
    slices_left_ =
        std::min(limits_.slices,
                 std::max<std::size_t>(8'000, limits_.slices_a_step * ranks *
                                                  std::max<std::size_t>(timeline.steps.size(), 1)));
  }
  std::vector<std::string> take_names() { return names_.take(); }

 private:
  void write(const std::vector<TimelineSlice>& kept, TimelineRow& made, Timeline& to) {
    made.slices = kept.size();
    std::int64_t before_ns = 0;
    for (const TimelineSlice& slice : kept) {
      append_number(to.slices, static_cast<std::uint64_t>(
                                   std::max<std::int64_t>(slice.start_ns - before_ns, 0)));
      append_number(to.slices, static_cast<std::uint64_t>(
                                   std::max<std::int64_t>(slice.end_ns - slice.start_ns, 0)));
      append_number(to.slices, names_.number_of(slice.label));
      to.slices +=
          static_cast<char>(unsigned{slice.depth} << 4U | static_cast<unsigned>(slice.role));
      if (slice.role == Role::communication)
        append_number(to.slices, static_cast<std::uint64_t>(slice.wait_ns));
      before_ns = std::max(before_ns, slice.start_ns);
      made.lines = std::max<std::size_t>(made.lines, slice.depth + std::size_t{1});
    }
  }

  const TimelineLimits& limits_;
  NameTable names_;
  std::size_t bins_ = 0;
  std::size_t thin_bins_ = 0;
  std::size_t thin_slices_ = 0;
  std::size_t slices_left_ = 0;
};

// How long each piece of a rank's communication waited, by its begin and end.
using PartWaits = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

std::vector<PartWaits> waits_of_parts(const Run& run, const MatchedCollectives& collectives) {
  std::vector<PartWaits> waits(run.ranks.size());
  for (const auto* const list : {&collectives.matched, &collectives.single})
    for (const Collective& what : *list)
      for (const CollectivePart& part : what.parts)
        if (const std::int64_t ns = what.wait_ns(part); ns > 0)
          waits[part.rank][{part.start_ns, part.end_ns}] = ns;
  return waits;
}

void set_waits(RankRow& row, const PartWaits& waits) {
  for (TimelineSlice& slice : row.slices)
    if (slice.role == Role::communication)
      if (const auto wait = waits.find({slice.start_ns, slice.end_ns}); wait != waits.end())
        slice.wait_ns = wait->second;
}

Intervals times_of(const RankRoles& roles) {
  Intervals times;
  for (const StepRoles& step : roles.steps)
    if (step.step.counted) times.push_back(step.step.time);
  std::ranges::sort(times, {}, &Interval::from_ns);
  return times;
}

// Keeps the steps to which the page leads.
void keep_steps(Timeline& timeline, const std::vector<StepKey>& wanted) {
  std::erase_if(timeline.steps, [&](const TimelineStep& step) {
    return !std::ranges::binary_search(wanted, step.key) &&
           std::none_of(timeline.windows.begin() + 1, timeline.windows.end(),
                        [&](const TimelineWindow& window) { return window.time == step.time; });
  });
}

std::size_t gaps_a_rank(const TimelineLimits& limits, std::size_t ranks, std::size_t steps) {
  return std::min(limits.gaps / ranks,
                  std::max(limits.least_gaps / ranks, limits.gaps_a_step * steps));
}

// Counts the spans of a row that begin in each step.
void count_spans(const std::vector<TimelineSlice>& slices, std::vector<TimelineStep>& steps) {
  for (TimelineStep& step : steps) {
    const auto at = [&](std::int64_t ns) {
      return std::ranges::lower_bound(slices, ns, {}, &TimelineSlice::start_ns);
    };
    step.spans += static_cast<std::uint64_t>(
        std::count_if(at(step.time.from_ns), at(step.time.to_ns),
                      [](const TimelineSlice& slice) { return slice.depth < kMostDepth; }));
  }
}

}  // namespace

std::vector<std::size_t> rank_order(const Run& run, const PagePlaces& places) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < run.ranks.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return run.ranks[i].rank == places.named ? 0 : run.ranks[i].rank == places.median ? 1 : 2;
  });
  return order;
}

std::string_view why_of(std::int64_t rank, const PagePlaces& places) {
  return rank == places.named ? "named" : rank == places.median ? "median" : "other";
}

Timeline make_timeline(const Run& run, const std::vector<RankRoles>& roles,
                       const MatchedCollectives& collectives, const TimelineLimits& limits,
                       const PagePlaces& places) {
  Timeline timeline;
  const std::vector<PartWaits> waits = waits_of_parts(run, collectives);
  const std::vector<std::size_t> order = rank_order(run, places);
  const std::size_t full = order.size() <= limits.full_ranks
                               ? order.size()
                               : std::min<std::size_t>(limits.full_ranks, 4);
  const bool epochs = has_epochs(roles);
  timeline.steps = find_step_times(roles);
  for (const TimelineStep& step : timeline.steps)
    timeline.end_ns = std::max(timeline.end_ns, step.time.to_ns);
  std::size_t rows_left = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::vector<RankRow> rows = find_rank_rows(run, run.ranks[order[i]]);
    for (const RankRow& row : rows)
      for (const TimelineSlice& slice : row.slices)
        timeline.end_ns = std::max(timeline.end_ns, slice.end_ns);
    if (i < full) rows_left += rows.size();
  }
  timeline.windows = find_windows(timeline.steps, timeline.end_ns);
  timeline.all_steps = timeline.steps.size();
  keep_steps(timeline, places.steps);
  TimelineMaker maker(run, limits, places.names);
  std::vector<IdleGaps> gaps;
  find_account(run, roles, {order.begin(), order.begin() + std::ptrdiff_t(full)}, &gaps);
  maker.share_room(rows_left, order.size() - full, full, timeline);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t rank = run.ranks[order[i]].rank;
    const RankRoles& steps = roles[order[i]];
    const Intervals times = times_of(steps);
    std::vector<RankRow> rows = find_rank_rows(run, run.ranks[order[i]]);
    for (RankRow& row : rows) set_waits(row, waits[order[i]]);
    if (i >= full) {
      maker.add_thin_row(rank, rows, times, timeline);
      continue;
    }
    timeline.ranks.push_back({rank, why_of(rank, places)});
    maker.add_gaps(std::move(gaps[order[i]]), gaps_a_rank(limits, full, times.size()), timeline);
    for (const RankRow& row : rows) count_spans(row.slices, timeline.steps);
    for (RankRow& row : rows) maker.add_row(rank, std::move(row), rows_left--, times, timeline);
    if (!rows.empty()) timeline.rows.back().is_last = true;
    for (const StepRoles& step : steps.steps)
      if (step.step.counted && timeline.sums.size() < limits.sums)
        timeline.sums.push_back(
            {rank, step_label(key_of(step.step), epochs), step.step.time, step.exclusive});
  }
  timeline.names = maker.take_names();
  return timeline;
}

}  // namespace traceloom
