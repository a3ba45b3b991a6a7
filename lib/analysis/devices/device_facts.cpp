#include "analysis/devices/device_facts.h"

#include "analysis/devices/device_work.h"
#include "analysis/work/work_names.h"
#include "base/arithmetic.h"
#include "base/ascii.h"
#include "base/units.h"
#include "per_rank/per_rank.h"
#include "run/event_columns.h"
#include "run/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

using Parts = std::initializer_list<std::string_view>;

// The work of one name.
struct WorkTime {
  std::int64_t ns = 0;
  std::size_t n = 0;

  void add(const WorkTime& more) {
    add_to(ns, more.ns);
    n += more.n;
  }
  auto wired() { return std::tie(ns, n); }
};

// Adds the facts in the name of a kernel, for the time of all kernels with that name.
void add_kernel(std::string_view name, std::int64_t ns, DeviceFacts& facts) {
  const std::string lower = to_lower(name);
  if (has_any(Parts{"fp8", "e4m3", "e5m2", "float8", "f8f8", "mxfp4", "nvfp4", "e2m1"}, lower))
    add_to(facts.fp8_ns, ns);
  const std::optional<bool> tensor_cores = uses_tensor_cores(name);
  const WorkType type = work_type("", name);
  const bool is_eligible = tensor_cores == true || type == WorkType::gemm ||
                           type == WorkType::conv || type == WorkType::conv_bwd ||
                           type == WorkType::attention || type == WorkType::attention_bwd;
  if (!is_eligible) return;
  add_to(facts.eligible_ns, ns);
  if (tensor_cores) add_to(*tensor_cores ? facts.tensor_ns : facts.plain_ns, ns);
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
  constexpr std::int64_t kLeastPart = 100;  // kernels below one hundredth are ignored
  DeviceFacts facts;
  find_graphs(run, facts);
  if (!kernels) return facts;
  std::vector<WorkTime> of_label(run.labels.size());
  using WorkTimes = std::map<std::uint32_t, WorkTime>;  // by label
  const auto times_of = [&](std::size_t rank) {
    WorkTimes times;
    const Intervals steps = steps_of(rank);
    run.ranks[rank].for_each_device([&](const DeviceSpan& span) {
      const Role role = run.labels.kind(span.label).role;
      if ((role == Role::kernel || role == Role::memcpy) &&
          holds_any(steps, {span.start_ns, span.start_ns + 1}))
        times[span.label].add({span.end_ns - span.start_ns, 1});
    });
    return times;
  };
  for_each_rank<WorkTimes>(run, ranks, times_of, [&](std::size_t, const WorkTimes& times) {
    for (const auto& [label, time] : times) of_label[label].add(time);
  });
  for (std::uint32_t label = 0; label < run.labels.size(); ++label) {
    const auto& [ns, n] = of_label[label];
    const std::string_view name = run.labels.name(label);
    if (run.labels.kind(label).role == Role::memcpy) {
      add_to(facts.copy_ns, ns);
      if (has_any(Parts{"Pageable"}, name)) add_to(facts.pageable_ns, ns);
      continue;
    }
    add_to(facts.kernel_ns, ns);
    if (ns <= facts.longest_ns) continue;
    facts.longest_ns = ns;
    facts.longest_n = n;
    facts.longest = name;
  }
  for (std::uint32_t label = 0; label < run.labels.size(); ++label)
    if (run.labels.kind(label).role == Role::kernel &&
        of_label[label].ns > facts.kernel_ns / kLeastPart)
      add_kernel(run.labels.name(label), of_label[label].ns, facts);
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

// The spans of one name of which nothing is known.
struct UnknownName {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;

  auto wired() { return std::tie(count, total_ns); }
};

// Returns the spans of files in which no category, name or row is known; empty if there are none.
std::string describe_unknown_names(const Run& run) {
  using Names = std::map<std::uint32_t, UnknownName>;  // by label
  const auto find = [&](std::size_t rank) {
    Names names;
    run.ranks[rank].for_each_host([&](const HostSpan& span) {
      if (run.labels.kind(span.label).role != Role::other) return;
      UnknownName& name = names[span.label];
      ++name.count;
      add_to(name.total_ns, span.end_ns - span.start_ns);
    });
    return names;
  };
  Names all;
  for (const Names& names : per_rank<Names>(run, find))
    for (const auto& [label, name] : names) {
      all[label].count += name.count;
      add_to(all[label].total_ns, name.total_ns);
    }
  if (all.empty()) return {};
  UnknownName sum;
  std::vector<std::pair<std::int64_t, std::string_view>> longest;
  longest.reserve(all.size());
  for (const auto& [label, name] : all) {
    sum.count += name.count;
    add_to(sum.total_ns, name.total_ns);
    longest.emplace_back(-name.total_ns, run.labels.name(label));
  }
  std::sort(longest.begin(), longest.end());
  std::vector<std::string> names;
  names.reserve(longest.size());
  for (const auto& [ns, name] : longest) names.emplace_back(name);
  return fmt::format(
      "spans have no category, and neither their names nor their rows are known: {} "
      "({}, {})",
      list_of(names), count_of(sum.count, "span"), format_duration(sum.total_ns));
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

// The time of kernels, of programs, and of each program by name, summed over all ranks.
struct ProgramTimes {
  std::int64_t kernels_ns = 0;
  std::int64_t programs_ns = 0;
  std::map<std::uint32_t, std::int64_t> by_label;

  auto wired() { return std::tie(kernels_ns, programs_ns, by_label); }
};

ProgramTimes find_program_times(const Run& run, const RankEvents& rank) {
  ProgramTimes times;
  rank.for_each_device([&](const DeviceSpan& span) {
    const EventClass& kind = run.labels.kind(span.label);
    const std::int64_t ns = span.end_ns - span.start_ns;
    if (kind.role == Role::kernel) add_to(times.kernels_ns, ns);
    if (!kind.is_program) return;
    add_to(times.programs_ns, ns);
    add_to(times.by_label[span.label], ns);
  });
  return times;
}

std::string describe_programs(const Run& run) {
  ProgramTimes times;
  std::map<std::string_view, std::int64_t> by_name;
  const auto find = [&](std::size_t rank) { return find_program_times(run, run.ranks[rank]); };
  for (const ProgramTimes& own : per_rank<ProgramTimes>(run, find)) {
    add_to(times.kernels_ns, own.kernels_ns);
    add_to(times.programs_ns, own.programs_ns);
    for (const auto& [label, ns] : own.by_label) add_to(by_name[run.labels.name(label)], ns);
  }
  if (times.programs_ns == 0 || times.programs_ns < times.kernels_ns / 2) return {};
  std::vector<std::pair<std::int64_t, std::string_view>> longest;
  longest.reserve(by_name.size());
  for (const auto& [name, ns] : by_name) longest.emplace_back(-ns, name);
  std::sort(longest.begin(), longest.end());
  std::vector<std::string> names;
  names.reserve(longest.size());
  for (const auto& [ns, name] : longest) names.emplace_back(name);
  return list_of(names);
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
  using Seen = std::set<std::uint32_t>;  // labels
  const auto find = [&](std::size_t rank) {
    Seen seen;
    const auto see = [&](const HostSpan& span) {
      if (is_launch[span.label]) seen.insert(span.label);
    };
    run.ranks[rank].for_each_call(see);
    run.ranks[rank].for_each_host(see);
    return seen;
  };
  Seen all;
  for (Seen& seen : per_rank<Seen>(run, find)) all.merge(seen);
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const std::uint32_t label : all) names.emplace_back(run.labels.name(label));
  std::sort(names.begin(), names.end());
  return names;
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

namespace {

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

std::vector<std::int64_t> ranks_of_several_runs(const Run& run) {
  std::vector<std::int64_t> ranks;
  const auto find = [&](std::size_t rank) { return has_several_processes(run.ranks[rank]); };
  for_each_rank<std::uint8_t>(run, all_ranks(run), find, [&](std::size_t rank, bool has_several) {
    if (has_several) ranks.push_back(run.ranks[rank].rank);
  });
  return ranks;
}

}  // namespace traceloom
