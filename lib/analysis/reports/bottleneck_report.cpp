#include "analysis/reports/bottleneck_report.h"

#include "analysis/numbers.h"
#include "analysis/reports/steps_report.h"
#include "analysis/verdict/verdict_words.h"
#include "analysis/waits/step_roles.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace traceloom {
namespace {

constexpr Limit kLimitsWithShares[] = {Limit::data_loading, Limit::communication, Limit::memory,
                                       Limit::launch_bound, Limit::host_code,     Limit::blocked,
                                       Limit::queued,       Limit::idle,          Limit::compute};

std::string steps_json(const std::vector<std::int64_t>& lengths) {
  const TimeStats stats = time_stats(lengths);
  return json_object("count", stats.count, "mean_ns", stats.mean_ns, "p50_ns", stats.p50_ns,
                     "p99_ns", stats.p99_ns);
}

// Writes these members of the open object.
void write_part(JsonWriter& json, std::string_view name, const StepShare& share) {
  json.member("limit", name);
  json.member("ns", share.ns);
  json.member("of_ns", share.of_ns);
  json.member("share", share.share());
}

// The run, findings and verdict from which the evidence of each figure is read.
struct Basis {
  const Run& run;
  const Findings& found;
  const Verdict& verdict;
};

void write_coverage(JsonWriter& json, const Basis& basis) {
  write_object(json, "coverage", [&] {
    json.member("launches", basis.found.causes.linked);
    json.member("device_work", basis.found.causes.work);
    json.member("ranks", basis.run.ranks.size());
    json.member("world_size",
                basis.found.is_alone ? std::nullopt : std::optional(basis.found.world_size));
    json.member("steps", basis.found.basis.steps.count());
  });
}

// Writes the events, ranks and steps on which a figure is based, as keys of the open object.
void write_evidence(JsonWriter& json, const Basis& basis, Status status, std::size_t events) {
  json.member("status", to_string(status));
  json.member("n", events);
  json.begin_array("ranks");
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
  write_object(json, "shares", [&] {
    for (const Limit limit : kLimitsWithShares) {
      const LimitShare& share = verdict.shares[limit];
      const bool is_known = share.unknown_since.empty() || share.ns > 0;
      json.member(limit_name(limit), is_known ? std::optional(share.share()) : std::nullopt);
    }
  });
  write_objects(json, "parts", kLimitsWithShares, [&](Limit limit) {
    const LimitShare& share = verdict.shares[limit];
    write_part(json, limit_name(limit), share);
    json.member("least_ns", share.least_ns);
    json.member("most_ns", share.most_ns);
    json.member("unknown_since", text_or_null(share.unknown_since));
    write_evidence(json, basis, limit);
  });
  write_object(json, "waiting", [&] {
    write_part(json, limit_name(verdict.waiting_in), verdict.waiting);
    json.member("waits_for", verdict.waits_for_stages ? "stages" : "ranks");
    json.member("waits_by", to_string(verdict.waits_by));
  });
  const auto write = [&](std::string_view key, std::string_view name, const StepShare& share) {
    write_object(json, key, [&] { write_part(json, name, share); });
  };
  write("untold", limit_name(Limit::communication), verdict.untold);
  write("programs", limit_name(Limit::compute), verdict.programs);
  write("not_recorded", "not recorded", verdict.not_recorded);
  std::vector<Limit> delaying{Limit::data_loading, Limit::straggler};
  std::erase_if(delaying, [&](Limit limit) { return verdict.delays[limit].ns == 0; });
  write_objects(json, "delays", delaying, [&](Limit limit) {
    write_part(json, limit_name(limit), verdict.delays[limit]);
    write_evidence(json, basis, limit);
  });
}

void write_causes(JsonWriter& json, const IdleCauses& causes) {
  write_objects(json, "blocking", causes.blocking, [&](const BlockingSum& sum) {
    json.member("call", sum.call);
    json.member("callers", sum.callers);
    json.member("ns", sum.ns);
    json.member("launched_ns", sum.launched_ns);
    json.member("calls", sum.calls);
    json.member("longest_ns", sum.longest_ns);
  });
  write_objects(json, "host_code", causes.frames, [&](const FrameSum& frame) {
    json.member("name", frame.name);
    json.member("file", text_or_null(frame.file));
    json.member("ns", frame.ns);
    json.member("inner", text_or_null(frame.inner));
    json.member("inner_ns", frame.inner_ns);
  });
}

// Writes each advice with the share for which it is given.
void write_advice(JsonWriter& json, const Basis& basis) {
  write_list(json, "advice", texts_of(basis.verdict.advice));
  write_objects(json, "advice_evidence", basis.verdict.advice, [&](const Advice& advice) {
    json.member("advice", advice.text);
    json.member("limit", limit_name(advice.limit));
    json.member("part", text_or_null(advice.part));
    json.member("value",
                advice.share.of_ns == 0 ? std::nullopt : std::optional(advice.share.share()));
    write_evidence(json, basis, advice.status, advice.events);
  });
}

std::string verdict_json(const Basis& basis) {
  const Verdict& verdict = basis.verdict;
  return json_object([&](JsonWriter& json) {
    json.member("kind", limit_name(verdict.kind));
    json.member("share", verdict.cost(verdict.kind).share());
    json.member("is_delay", verdict.is_delay(verdict.kind));
    json.member("rank", verdict.rank);
    json.member("status", to_string(verdict.status[verdict.kind]));
    json.member("n", verdict.events[verdict.kind]);
    write_coverage(json, basis);
    write_object(json, "of", [&] {
      write_owner(json, verdict.of);
      const bool is_of_all = verdict.of.phase == StepPhase::none;
      json.member("kind", is_of_all ? std::nullopt : std::optional(to_string(verdict.of.phase)));
    });
    write_shares(json, basis);
    write_causes(json, basis.found.causes);
    std::vector<std::string_view> possible;
    for (const Limit limit : verdict.possible) possible.push_back(limit_name(limit));
    write_list(json, "possible", possible);
    write_list(json, "evidence", verdict.evidence);
    write_advice(json, basis);
  });
}

std::string ranks_json(const std::vector<RankRoles>& ranks) {
  std::string text;
  JsonWriter json(text);
  write_objects(json, ranks, [&](const RankRoles& rank) {
    StepSum steps;
    steps.add_counted(rank.steps);
    const StepRoles means = steps.mean();
    const RoleShares shares = steps.shares();
    json.member("rank", rank.rank);
    write_objects(json, "roles", kRoles, [&](Role role) {
      json.member("role", role_name(role));
      json.member("mean_ns", means.exclusive[role]);
      json.member("share", shares[role]);
    });
  });
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
  if (const TimeStats stats = time_stats(lengths); stats.count > 0)
    report.headline.push_back(fmt::format(
        "{}: mean {}, median {}, p99 {}{}", count_of(lengths.size(), step_noun(verdict.of.phase)),
        format_duration(stats.mean_ns), format_duration(stats.p50_ns),
        format_duration(stats.p99_ns),
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
