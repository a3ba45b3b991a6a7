#include "analysis/devices/device_work.h"
#include "analysis/work/work_names.h"
#include "base/arithmetic.h"
#include "base/units.h"
#include "per_rank/per_rank.h"
#include "run/event_columns.h"
#include "run/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

namespace traceloom {
namespace {

using Parts = std::initializer_list<std::string_view>;

// The spans of one label.
struct LabelTime {
  std::int64_t ns = 0;
  std::size_t n = 0;

  void add(const LabelTime& more) {
    add_to(ns, more.ns);
    n += more.n;
  }
};
using LabelTimes = std::map<std::uint32_t, LabelTime>;

// Sums up spans of these ranks: visit(rank, add) calls add(span) for each span of a rank that
// counts.
template <typename Visit>
LabelTimes sum_by_label(const Run& run, const std::vector<std::size_t>& ranks, Visit visit) {
  LabelTimes all;
  const auto find = [&](std::size_t rank) {
    LabelTimes times;
    visit(rank, [&](const HostSpan& span) {
      times[span.label].add({span.end_ns - span.start_ns, 1});
    });
    return times;
  };
  for_each_rank<LabelTimes>(run, ranks, find, [&](std::size_t, const LabelTimes& times) {
    for (const auto& [label, time] : times) all[label].add(time);
  });
  return all;
}

void find_graphs(const Run& run, DeviceFacts& facts) {
  for (std::uint32_t label = 0; label < run.labels.size(); ++label) {
    const EventClass& kind = run.labels.kind(label);
    const std::string_view name = run.labels.name(label);
    if (kind.place == EventPlace::call) {
      facts.has_graphs |= name.starts_with("cu") || name.starts_with("hip");
      facts.replays_graphs |= has_any(Parts{"GraphLaunch"}, name);
      facts.captures_graphs |=
          has_any(Parts{"BeginCapture", "EndCapture", "GraphInstantiate"}, name);
    } else if (kind.place == EventPlace::host) {
      facts.captures_graphs |=
          has_any(Parts{"capture_begin", "graph_capture", "capture_graph"}, name);
      facts.has_torch |= kind.is_operator;
      facts.compiles |= is_compiled_region(name);
    }
  }
}

}  // namespace

bool has_devices(const Run& run) {
  return std::ranges::any_of(run.ranks, &RankEvents::has_devices);
}

bool is_training(const Run& run) {
  for (std::uint32_t label = 0; label < run.labels.size(); ++label)
    if (has_any(Parts{"ackward", "ptimizer", "_bwd", "wgrad", "dgrad"}, run.labels.name(label)))
      return true;
  return false;
}

DeviceFacts find_device_facts(const Run& run, const std::vector<std::size_t>& ranks, bool kernels,
                              const std::function<Intervals(std::size_t rank)>& steps_of) {
  DeviceFacts facts;
  find_graphs(run, facts);
  if (!kernels) return facts;
  const LabelTimes times = sum_by_label(run, ranks, [&](std::size_t rank, auto add) {
    const Intervals steps = steps_of(rank);
    run.ranks[rank].for_each_device([&](const DeviceSpan& span) {
      const Role role = run.labels.kind(span.label).role;
      if ((role == Role::kernel || role == Role::memcpy) &&
          holds_any(steps, {span.start_ns, span.start_ns + 1}))
        add(span);
    });
  });
  std::uint32_t longest = 0;
  for (const auto& [label, time] : times) {
    const auto& [ns, n] = time;
    const std::string_view name = run.labels.name(label);
    if (run.labels.kind(label).role == Role::memcpy) {
      add_to(facts.copy_ns, ns);
      if (has_any(Parts{"Pageable"}, name)) add_to(facts.pageable_ns, ns);
      if (has_any(Parts{"DtoD"}, name)) add_to(facts.within_ns, ns);
      continue;
    }
    add_to(facts.kernel_ns, ns);
    if (ns <= facts.longest_ns) continue;
    facts.longest_ns = ns;
    facts.longest_n = n;
    facts.longest = name;
    longest = label;
  }
  const auto find_busy = [&](std::size_t rank) {
    Intervals busy;
    run.ranks[rank].for_each_device([&](const DeviceSpan& span) {
      if (span.label == longest) busy.push_back(span.interval());
    });
    return total_ns(intersect(unite(std::move(busy)), steps_of(rank)));
  };
  for (const std::int64_t ns : per_rank<std::int64_t>(run, ranks, find_busy))
    add_to(facts.longest_busy_ns, ns);
  return facts;
}

namespace {

constexpr std::size_t kMostNames = 3;

// Returns "'a', 'b', 'c' and 2 more".
std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    text += fmt::format("{}'{}'", i > 0 ? ", " : "", names[i]);
  if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
  return text;
}

std::string name_of(const UnknownRow& row) {
  return std::string(row.category.empty() ? row.process : row.category);
}

std::string describe(const std::vector<UnknownRow>& rows) {
  std::vector<std::string> names;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  for (const UnknownRow& row : rows) {
    if (std::ranges::find(names, name_of(row)) == names.end()) names.push_back(name_of(row));
    count += row.count;
    add_to(total_ns, row.total_ns);
  }
  return fmt::format("rows of {} look like a device and are not understood ({}, {})",
                     list_of(names), count_of(count, "span"), format_duration(total_ns));
}

// Returns the rows of devices about which nothing is known. A row with an unknown category counts
// only if there is no other evidence of a device.
std::vector<UnknownRow> find_doubtful(const Run& run) {
  std::vector<UnknownRow> rows = find_unknown_rows(run);
  const bool any_device = has_devices(run);
  std::erase_if(rows, [&](const UnknownRow& row) {
    return !row.is_whole_device || (!row.category.empty() && any_device);
  });
  return rows;
}

// Returns the names, those with the most time first.
std::vector<std::string> longest_first(const std::map<std::string_view, std::int64_t>& times_ns) {
  std::vector<std::pair<std::int64_t, std::string>> longest;
  longest.reserve(times_ns.size());
  for (const auto& [name, ns] : times_ns) longest.emplace_back(-ns, name);
  std::sort(longest.begin(), longest.end());
  std::vector<std::string> names;
  names.reserve(longest.size());
  for (auto& [ns, name] : longest) names.push_back(std::move(name));
  return names;
}

// Returns the spans of files in which no category, name or row is known; empty if there are none.
std::string describe_unknown_names(const Run& run) {
  const LabelTimes times = sum_by_label(run, all_ranks(run), [&](std::size_t rank, auto add) {
    run.ranks[rank].for_each_host([&](const HostSpan& span) {
      if (run.labels.kind(span.label).role == Role::other) add(span);
    });
  });
  if (times.empty()) return {};
  LabelTime sum;
  std::map<std::string_view, std::int64_t> by_name;
  for (const auto& [label, time] : times) {
    sum.add(time);
    add_to(by_name[run.labels.name(label)], time.ns);
  }
  return fmt::format(
      "spans have no category, and neither their names nor their rows are known: {} "
      "({}, {})",
      list_of(longest_first(by_name)), count_of(sum.n, "span"), format_duration(sum.ns));
}

bool is_cut(const RunFile& file) {
  return file.problems.count(Problem::cut_event) + file.problems.count(Problem::gzip_cut) > 0;
}

std::string describe_cut(const Run& run) {
  for (const RunFile& file : run.files)
    if (file.producer == kTorchProducer && is_cut(file))
      return fmt::format(
          "{} is cut off, and torch.profiler does not write events in the order of time: all of "
          "one kind may be missing",
          one_line(file.path));
  return {};
}

bool has_programs(const Labels& labels) {
  for (std::uint32_t label = 0; label < labels.size(); ++label)
    if (labels.kind(label).is_program) return true;
  return false;
}

std::string describe_programs(const Run& run) {
  if (!has_programs(run.labels)) return {};
  const LabelTimes times = sum_by_label(run, all_ranks(run), [&](std::size_t rank, auto add) {
    run.ranks[rank].for_each_device([&](const DeviceSpan& span) {
      const EventClass& kind = run.labels.kind(span.label);
      if (kind.role == Role::kernel || kind.is_program) add(span);
    });
  });
  std::int64_t kernels_ns = 0;
  std::int64_t programs_ns = 0;
  std::map<std::string_view, std::int64_t> by_name;
  for (const auto& [label, time] : times) {
    const EventClass& kind = run.labels.kind(label);
    if (kind.role == Role::kernel) add_to(kernels_ns, time.ns);
    if (!kind.is_program) continue;
    add_to(programs_ns, time.ns);
    add_to(by_name[run.labels.name(label)], time.ns);
  }
  if (programs_ns == 0 || programs_ns < kernels_ns / 2) return {};
  return list_of(longest_first(by_name));
}

// True for what gives work to a device: a call, or a range of the host for NCCL's kernels.
bool gives_work(const Labels& labels, std::uint32_t label) {
  const std::string_view name = labels.name(label);
  if (labels.kind(label).place == EventPlace::call) return is_launching(name);
  return labels.kind(label).role == Role::communication && name.starts_with("nccl:");
}

// Returns the names of what gives work to a device.
std::vector<std::string> find_launching(const Run& run) {
  std::vector<bool> is_launch;
  is_launch.reserve(run.labels.size());
  for (std::uint32_t label = 0; label < run.labels.size(); ++label)
    is_launch.push_back(gives_work(run.labels, label));
  const LabelTimes seen = sum_by_label(run, all_ranks(run), [&](std::size_t rank, auto add) {
    const auto see = [&](const HostSpan& span) {
      if (is_launch[span.label]) add(span);
    };
    run.ranks[rank].for_each_call(see);
    run.ranks[rank].for_each_host(see);
  });
  std::vector<std::string> names;
  names.reserve(seen.size());
  for (const auto& [label, time] : seen) names.emplace_back(run.labels.name(label));
  std::sort(names.begin(), names.end());
  return names;
}

// The calls of a file that launch work.
struct FileCalls {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t least_id = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_id = std::numeric_limits<std::int64_t>::min();

  void add(const CallSpan& call) {
    first_ns = std::min(first_ns, call.start_ns);
    least_id = std::min(least_id, call.correlation);
    most_id = std::max(most_id, call.correlation);
  }
};

// Returns whether the ids of launches begin again in a later file: a process counts them on, so
// that the later file is of another process.
bool has_several_processes(const RankEvents& rank) {
  std::map<std::size_t, FileCalls> files;
  for (const EventColumns& part : rank.own_parts())
    for (const CallSpan& call : part.calls)
      if (call.correlation != kNoId) files[part.file].add(call);
  std::vector<FileCalls> in_time;
  in_time.reserve(files.size());
  for (const auto& [file, calls] : files) in_time.push_back(calls);
  std::ranges::sort(in_time, {}, &FileCalls::first_ns);
  for (std::size_t i = 1; i < in_time.size(); ++i)
    if (in_time[i].least_id <= in_time[i - 1].most_id) return true;
  return false;
}

}  // namespace

std::vector<UnknownRow> find_unknown_rows(const Run& run) {
  using Texts = std::array<std::string_view, 3>;
  std::map<std::pair<std::int64_t, Texts>, UnknownRow> found_rows;
  const auto find = [&](std::size_t rank) {
    std::vector<UnknownSpans> found;
    run.ranks[rank].for_each_unknown([&](const UnknownSpans& spans) { found.push_back(spans); });
    return found;
  };
  const auto add = [&](std::size_t rank, const std::vector<UnknownSpans>& found) {
    for (const UnknownSpans& spans : found) {
      const std::string_view detail = run.details[spans.detail];
      const Texts texts{find_detail(detail, "process"), find_detail(detail, "thread"),
                        find_detail(detail, "category")};
      const std::int64_t number = run.ranks[rank].rank;
      UnknownRow& row =
          found_rows.try_emplace({number, texts}, UnknownRow{number, texts[0], texts[1], texts[2]})
              .first->second;
      row.count += spans.count;
      add_to(row.total_ns, spans.total_ns);
      row.is_whole_device |= spans.is_whole_device;
    }
  };
  for_each_rank<std::vector<UnknownSpans>>(run, all_ranks(run), find, add);
  std::vector<UnknownRow> rows;
  rows.reserve(found_rows.size());
  for (const auto& [key, row] : found_rows) rows.push_back(row);
  return rows;
}

DeviceDoubts::DeviceDoubts(const Run& run)
    : cut(describe_cut(run)), programs(describe_programs(run)) {
  const std::vector<UnknownRow> rows = find_doubtful(run);
  if (!rows.empty()) not_understood = describe(rows);
  if (has_devices(run)) return;
  if (rows.empty()) not_understood = describe_unknown_names(run);
  if (const std::vector<std::string> names = find_launching(run); !names.empty())
    not_recorded = fmt::format("the host gives work to a device ({}) that these traces do not hold",
                               list_of(names));
}

Intervals find_programs(const Run& run, const RankEvents& rank) {
  Intervals programs;
  rank.for_each_device([&](const DeviceSpan& span) {
    if (run.labels.kind(span.label).is_program) programs.push_back(span.interval());
  });
  return unite(std::move(programs));
}

void note_no_devices(const Run& run, Report& report, std::string_view what_follows) {
  const std::vector<UnknownRow> rows = find_doubtful(run);
  report.notes.push_back(
      fmt::format("{}: {}", rows.empty() ? "no device activity in these traces" : describe(rows),
                  what_follows));
}

std::vector<std::int64_t> ranks_of_several_runs(const Run& run) {
  std::vector<std::int64_t> ranks;
  const auto find = [&](std::size_t rank) { return has_several_processes(run.ranks[rank]); };
  for_each_rank<std::uint8_t>(run, all_ranks(run), find, [&](std::size_t rank, bool has_several) {
    if (has_several) ranks.push_back(run.ranks[rank].rank);
  });
  return ranks;
}

}  // namespace traceloom
