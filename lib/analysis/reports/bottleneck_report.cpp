#include "analysis/reports/bottleneck_report.h"

#include "analysis/numbers.h"
#include "analysis/reports/steps_report.h"
#include "analysis/verdict/verdict_words.h"
#include "analysis/waits/step_roles.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

namespace traceloom {
namespace {

constexpr Limit kLimitsWithShares[] = {Limit::data_loading, Limit::communication, Limit::memory,
                                       Limit::launch_bound, Limit::host_code,     Limit::blocked,
                                       Limit::queued,       Limit::idle,          Limit::compute};

std::string steps_json(const std::vector<std::int64_t>& lengths) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("count");
  json.value(lengths.size());
  json.key("mean_ns");
  json.value(mean(lengths));
  json.key("p50_ns");
  json.value(percentile(lengths, 50));
  json.key("p99_ns");
  json.value(percentile(lengths, 99));
  json.end_object();
  return text;
}

void write_part(JsonWriter& json, std::string_view name, const StepShare& share) {
  json.begin_object();
  json.key("limit");
  json.value(name);
  json.key("ns");
  json.value(share.ns);
  json.key("of_ns");
  json.value(share.of_ns);
  json.key("share");
  json.value(share.share());
}

void write_owner(JsonWriter& json, const StepOwner& owner) {
  json.begin_object();
  json.key("text");
  json.value(owner.text());
  json.key("rank");
  json.value(owner.rank);
  json.key("ranks");
  json.value(owner.ranks);
  json.key("steps");
  json.value(owner.steps);
  json.key("kind");
  owner.phase == StepPhase::none ? json.null() : json.value(to_string(owner.phase));
  json.end_object();
}

// The run, findings and verdict from which the evidence of each figure is read.
struct Basis {
  const Run& run;
  const Findings& found;
  const Verdict& verdict;
};

void write_coverage(JsonWriter& json, const Basis& basis) {
  json.key("coverage");
  json.begin_object();
  json.key("launches");
  json.value(basis.found.causes.linked);
  json.key("device_work");
  json.value(basis.found.causes.work);
  json.key("ranks");
  json.value(basis.run.ranks.size());
  json.key("world_size");
  basis.found.is_alone ? json.null() : json.value(basis.found.world_size);
  json.key("steps");
  json.value(basis.found.basis.steps.count());
  json.end_object();
}

// Writes the events, ranks and steps on which a figure is based, as keys of the open object.
void write_evidence(JsonWriter& json, const Basis& basis, Status status, std::size_t events) {
  json.key("status");
  json.value(to_string(status));
  json.key("n");
  json.value(events);
  json.key("ranks");
  json.begin_array();
  for (const std::size_t rank : basis.found.basis.ranks) json.value(basis.run.ranks[rank].rank);
  json.end_array();
  write_coverage(json, basis);
}

void write_evidence(JsonWriter& json, const Basis& basis, Limit limit) {
  write_evidence(json, basis, basis.verdict.status[limit], basis.verdict.events[limit]);
}

// Writes null for an unknown share. The straggler is left out because it is no part of the steps.
void write_shares(JsonWriter& json, const Basis& basis) {
  const Verdict& verdict = basis.verdict;
  json.key("shares");
  json.begin_object();
  for (const Limit limit : kLimitsWithShares) {
    const LimitShare& share = verdict.shares[limit];
    json.key(limit_name(limit));
    share.unknown_since.empty() || share.ns > 0 ? json.value(share.share()) : json.null();
  }
  json.end_object();
  json.key("parts");
  json.begin_array();
  for (const Limit limit : kLimitsWithShares) {
    const LimitShare& share = verdict.shares[limit];
    write_part(json, limit_name(limit), share);
    json.key("least_ns");
    json.value(share.least_ns);
    json.key("most_ns");
    json.value(share.most_ns);
    json.key("unknown_since");
    share.unknown_since.empty() ? json.null() : json.value(share.unknown_since);
    write_evidence(json, basis, limit);
    json.end_object();
  }
  json.end_array();
  json.key("waiting");
  write_part(json, limit_name(verdict.waiting_in), verdict.waiting);
  json.key("waits_for");
  json.value(verdict.waits_for_stages ? "stages" : "ranks");
  json.key("waits_by");
  json.value(to_string(verdict.waits_by));
  json.end_object();
  json.key("untold");
  write_part(json, limit_name(Limit::communication), verdict.untold);
  json.end_object();
  json.key("programs");
  write_part(json, limit_name(Limit::compute), verdict.programs);
  json.end_object();
  json.key("not_recorded");
  write_part(json, "not recorded", verdict.not_recorded);
  json.end_object();
  json.key("delays");
  json.begin_array();
  for (const Limit limit : {Limit::data_loading, Limit::straggler}) {
    if (verdict.delays[limit].ns == 0) continue;
    write_part(json, limit_name(limit), verdict.delays[limit]);
    write_evidence(json, basis, limit);
    json.end_object();
  }
  json.end_array();
}

void write_blocking(JsonWriter& json, const IdleCauses& causes) {
  json.key("blocking");
  json.begin_array();
  for (const BlockingSum& sum : causes.blocking) {
    json.begin_object();
    json.key("call");
    json.value(sum.call);
    json.key("callers");
    json.value(sum.callers);
    json.key("ns");
    json.value(sum.ns);
    json.key("launched_ns");
    json.value(sum.launched_ns);
    json.key("calls");
    json.value(sum.calls);
    json.key("longest_ns");
    json.value(sum.longest_ns);
    json.end_object();
  }
  json.end_array();
}

void write_frames(JsonWriter& json, const IdleCauses& causes) {
  json.key("host_code");
  json.begin_array();
  for (const FrameSum& frame : causes.frames) {
    json.begin_object();
    json.key("name");
    json.value(frame.name);
    json.key("file");
    frame.file.empty() ? json.null() : json.value(frame.file);
    json.key("ns");
    json.value(frame.ns);
    json.key("inner");
    frame.inner.empty() ? json.null() : json.value(frame.inner);
    json.key("inner_ns");
    json.value(frame.inner_ns);
    json.end_object();
  }
  json.end_array();
}

// Writes each advice with the share for which it is given.
void write_advice(JsonWriter& json, const Basis& basis) {
  write_list(json, "advice", texts_of(basis.verdict.advice));
  json.key("advice_evidence");
  json.begin_array();
  for (const Advice& advice : basis.verdict.advice) {
    json.begin_object();
    json.key("advice");
    json.value(advice.text);
    json.key("limit");
    json.value(limit_name(advice.limit));
    json.key("part");
    advice.part.empty() ? json.null() : json.value(advice.part);
    json.key("value");
    advice.share.of_ns == 0 ? json.null() : json.value(advice.share.share());
    write_evidence(json, basis, advice.status, advice.events);
    json.end_object();
  }
  json.end_array();
}

std::string verdict_json(const Basis& basis) {
  const Verdict& verdict = basis.verdict;
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("kind");
  json.value(limit_name(verdict.kind));
  json.key("share");
  json.value(verdict.cost(verdict.kind).share());
  json.key("is_delay");
  json.value(verdict.is_delay(verdict.kind));
  json.key("rank");
  json.value(verdict.rank);
  json.key("status");
  json.value(to_string(verdict.status[verdict.kind]));
  json.key("n");
  json.value(verdict.events[verdict.kind]);
  write_coverage(json, basis);
  json.key("of");
  write_owner(json, verdict.of);
  write_shares(json, basis);
  write_blocking(json, basis.found.causes);
  write_frames(json, basis.found.causes);
  std::vector<std::string_view> possible;
  for (const Limit limit : verdict.possible) possible.push_back(limit_name(limit));
  write_list(json, "possible", possible);
  write_list(json, "evidence", verdict.evidence);
  write_advice(json, basis);
  json.end_object();
  return text;
}

void write_roles(JsonWriter& json, const StepSum& steps) {
  const StepRoles means = steps.mean();
  const RoleShares shares = steps.shares();
  json.begin_array();
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    json.begin_object();
    json.key("role");
    json.value(kRoleNames[i]);
    json.key("mean_ns");
    json.value(means.exclusive[role]);
    json.key("share");
    json.value(shares[role]);
    json.end_object();
  }
  json.end_array();
}

std::string ranks_json(const std::vector<RankRoles>& roles) {
  std::string text;
  JsonWriter json(text);
  json.begin_array();
  for (const RankRoles& rank : roles) {
    json.begin_object();
    json.key("rank");
    json.value(rank.rank);
    json.key("roles");
    StepSum steps;
    steps.add_counted(rank.steps);
    write_roles(json, steps);
    json.end_object();
  }
  json.end_array();
  return text;
}

void add_headline(Report& report, const Run& run, const Verdict& verdict,
                  const std::vector<std::int64_t>& lengths) {
  std::uint64_t events = 0;
  for (const RunFile& file : run.files) events += file.events;
  const auto repeats = std::ranges::count_if(run.files, &RunFile::is_repeat);
  const std::size_t files = run.files.size() - static_cast<std::size_t>(repeats);
  report.headline.push_back(fmt::format("{}, {}, {}", count_of(files, "file"),
                                        count_of(run.ranks.size(), "rank"),
                                        count_of(events, "event")));
  if (!lengths.empty())
    report.headline.push_back(fmt::format(
        "{}: mean {}, median {}, p99 {}{}", count_of(lengths.size(), step_noun(verdict.of.phase)),
        format_duration(mean(lengths)), format_duration(percentile(lengths, 50)),
        format_duration(percentile(lengths, 99)),
        run.ranks.size() > 1 ? " (each on the rank on which it takes longest)" : ""));
  report.headline.push_back(verdict_headline(verdict));
  for (const std::string& evidence : verdict.evidence) report.headline.push_back("  - " + evidence);
  for (const Advice& advice : verdict.advice) report.headline.push_back("Next: " + advice.text);
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

void note_several_runs(const Run& run, Report& report) {
  RankNotes notes;
  const auto find = [&](std::size_t rank) { return has_several_processes(run.ranks[rank]); };
  const auto note = [&](std::size_t rank, bool has_several) {
    if (has_several)
      notes.add(run.ranks[rank].rank,
                "files of several runs (the ids of launches begin again), which this page counts "
                "together: give the files of one run");
  };
  for_each_rank<std::uint8_t>(run, all_ranks(run), find, note);
  notes.append_to(report);
}

}  // namespace

BottleneckAnswer bottleneck_report(const Run& run) {
  const Findings found(run);
  const Verdict verdict = find_verdict(found);
  const std::vector<StepLength> steps = longest_steps(found.roles);
  const std::vector<std::int64_t> lengths = lengths_ns(steps);
  Report report("bottleneck", run);
  add_headline(report, run, verdict, lengths);
  report.values.emplace_back("verdict", verdict_json({run, found, verdict}));
  report.values.emplace_back("steps", steps_json(lengths));
  report.values.emplace_back("ranks", ranks_json(found.roles));
  report.tables.push_back({"roles",
                           fmt::format("Where {} goes, {}", found.basis.owner.text(),
                                       format_duration(found.basis.steps.mean().total_ns)),
                           roles_table(found.basis.steps)});
  append_phases(run, report);
  note_phase(run, found.roles, report);
  note_missing(run, report);
  note_longest(steps, report);
  note_several_runs(run, report);
  return {std::move(report), verdict};
}

}  // namespace traceloom
