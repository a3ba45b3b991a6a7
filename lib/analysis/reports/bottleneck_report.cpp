#include "analysis/numbers.h"
#include "analysis/reports/reports.h"
#include "analysis/verdict/verdict_words.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

bool has_share(Limit limit) {
  return limit != Limit::straggler && limit != Limit::inconclusive;
}

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
    json.member("launches", basis.found.account.linked);
    json.member("device_work", basis.found.account.work);
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
    for (const Limit limit : kAllOf<Limit>) {
      if (!has_share(limit)) continue;
      const LimitShare& share = verdict.shares[limit];
      const bool is_known = share.unknown_since.empty() || share.ns > 0;
      json.member(limit_name(limit), is_known ? std::optional(share.share()) : std::nullopt);
    }
  });
  std::vector<Limit> with_share(kAllOf<Limit>.begin(), kAllOf<Limit>.end());
  std::erase_if(with_share, [](Limit limit) { return !has_share(limit); });
  write_objects(json, "parts", with_share, [&](Limit limit) {
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

void write_frames(JsonWriter& json, const std::vector<FrameSum>& frames) {
  write_objects(json, "host_code", frames, [&](const FrameSum& frame) {
    json.member("name", frame.name);
    json.member("file", text_or_null(frame.file));
    json.member("ns", frame.ns);
    json.member("inner", text_or_null(frame.inner));
    json.member("inner_ns", frame.inner_ns);
  });
}

void write_remedies(JsonWriter& json, const Basis& basis) {
  write_objects(json, "remedies", basis.verdict.remedies, [&](const Remedy& remedy) {
    json.member("remedy", remedy.text);
    write_part(json, limit_name(remedy.limit), remedy.gain);
    json.member("part", text_or_null(remedy.part));
    json.member("longest_ns",
                remedy.longest_ns > 0 ? std::optional(remedy.longest_ns) : std::nullopt);
    json.member("where", text_or_null(remedy.where));
    json.member("see", remedy.see);
    json.member("rule", remedy.part.empty() ? row_of(remedy.limit).gain : remedy.part);
    write_evidence(json, basis, remedy.status, remedy.events);
  });
}

// A row of the account in the steps of the basis.
struct AccountLine {
  AccountRow row;
  const AccountSum* sum;
};

std::vector<AccountLine> account_lines(const Basis& basis) {
  std::vector<AccountLine> lines;
  for (const AccountRow row : kAllOf<AccountRow>)
    if (const AccountSum& sum = basis.found.account[row]; sum.ns > 0) lines.push_back({row, &sum});
  return lines;
}

void write_names(JsonWriter& json, const std::vector<NamedTime>& names) {
  write_objects(json, "names", names, [&](const NamedTime& name) {
    json.member("name", name.name);
    json.member("callers", text_or_null(name.callers));
    json.member("ns", name.ns);
    json.member("n", name.n);
    json.member("longest_ns", name.longest_ns);
  });
}

void write_account(JsonWriter& json, const Basis& basis) {
  write_objects(json, "account", account_lines(basis), [&](const AccountLine& line) {
    json.member("row", account_row_name(line.row));
    json.member("ns", line.sum->ns);
    json.member("of_ns", basis.found.basis.steps.sum().total_ns);
    json.member("share", basis.found.basis.share(line.sum->ns).share());
    json.member("n", line.sum->n);
    json.member("longest_ns",
                line.sum->longest_ns > 0 ? std::optional(line.sum->longest_ns) : std::nullopt);
    write_names(json, line.sum->names);
  });
}

// Rows that would show as 0.0 % are one row together; JSON has each in verdict.account.
Table account_table(const Basis& basis) {
  constexpr double kLeastShown = 0.0005;
  using enum ColumnKind;
  using enum Readers;
  using Row = AccountLine;
  const StepBasis& of = basis.found.basis;
  const ColumnsOf<Row> columns{
      {"row", "Row", text, [](auto& line) { return account_row_name(line.row); }},
      {"mean_ns", "Mean/step", duration,
       [&](auto& line) { return rounded_mean(line.sum->ns, of.steps.count()); }},
      {"share", "Share", share, [&](auto& line) { return of.share(line.sum->ns).share(); }},
      {"n", "N", count, [](auto& line) { return cell_if(line.sum->n > 0, line.sum->n); }},
      {"longest_ns", "Longest", duration, some,
       [](auto& line) { return cell_if(line.sum->longest_ns > 0, line.sum->longest_ns); }},
      {"mostly", "Mostly", text, some, [&](auto& line) { return most_text(*line.sum, of.owner); }},
  };
  AccountSum others;
  std::vector<AccountLine> lines = account_lines(basis);
  std::erase_if(lines, [&](const AccountLine& line) {
    const bool is_small = of.share(line.sum->ns).share() < kLeastShown;
    if (is_small) add_to(others.ns, line.sum->ns);
    return is_small;
  });
  if (of.share(others.ns).share() >= kLeastShown) lines.push_back({AccountRow::count_, &others});
  return make_table(lines, columns);
}

Table remedies_table(const Basis& basis) {
  using enum ColumnKind;
  using enum Readers;
  using Row = Remedy;
  const StepOwner& of = basis.found.basis.owner;
  const ColumnsOf<Row> columns{
      {"gain_ns", "At most", duration,
       [&](auto& remedy) {
         return rounded_mean(remedy.gain.ns, std::max<std::size_t>(of.steps, 1));
       }},
      {"share", "Share", share, [](auto& remedy) { return remedy.gain.share(); }},
      {"n", "N", count, [](auto& remedy) { return remedy.events; }},
      {"longest_ns", "Longest", duration, some,
       [](auto& remedy) { return cell_if(remedy.longest_ns > 0, remedy.longest_ns); }},
      {"limit", "Limit", text, [](auto& remedy) { return std::string(limit_name(remedy.limit)); }},
      {"see", "See", text, [](auto& remedy) { return std::string(remedy.see); }},
      {"remedy", "Remedy", text, [](auto& remedy) { return remedy.text; }},
      {"where", "Where", text, few, [](auto& remedy) { return remedy.where; }},
  };
  return make_table(basis.verdict.remedies, columns);
}

std::string verdict_json(const Basis& basis) {
  const Verdict& verdict = basis.verdict;
  return json_object([&](JsonWriter& json) {
    json.member("kind", limit_name(verdict.kind));
    json.member("share", verdict.gains[verdict.kind].share());
    json.member("gain_ns", verdict.gains[verdict.kind].ns);
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
    write_account(json, basis);
    write_frames(json, basis.found.account.frames);
    std::vector<std::string_view> possible;
    for (const Limit limit : verdict.possible) possible.push_back(limit_name(limit));
    write_list(json, "possible", possible);
    write_list(json, "evidence", verdict.evidence);
    write_list(json, "advice", advice_lines(verdict));
    write_list(json, "left_out", verdict.left_out);
    write_remedies(json, basis);
    json.member("next", verdict.next);
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

std::string steps_line(const Run& run, const Verdict& verdict,
                       const std::vector<std::int64_t>& lengths) {
  const TimeStats stats = time_stats(lengths);
  const std::string noun = step_noun(verdict.of.phase);
  if (stats.count == 1)
    return fmt::format("only one {}, of {}{}: it may be no usual one", noun,
                       format_duration(stats.mean_ns),
                       run.ranks.size() > 1 ? " on the rank on which it takes longest" : "");
  return fmt::format("{}: mean {}, median {}, p99 {}{}", count_of(lengths.size(), noun),
                     format_duration(stats.mean_ns), format_duration(stats.p50_ns),
                     format_duration(stats.p99_ns),
                     run.ranks.size() > 1 ? " (each on the rank on which it takes longest)" : "");
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
  report.headline.push_back(steps_line(run, verdict, lengths));
  if (lengths.empty()) report.headline.pop_back();
  report.headline.push_back(verdict_headline(verdict));
  for (const std::string& evidence : verdict.evidence) report.headline.push_back("  - " + evidence);
  for (const std::string& left_out : verdict.left_out)
    report.headline.push_back("  - left out: " + left_out);
  report.headline.push_back("Next: " + verdict.next);
}

void note_several_runs(const Run& run, Report& report) {
  RankNotes notes;
  for (const std::int64_t rank : ranks_of_several_runs(run))
    notes.add(rank,
              "files of several runs (the ids of launches begin again), which this page counts "
              "together: give the files of one run");
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
  const Basis basis{run, found, verdict};
  if (!verdict.remedies.empty())
    report.tables.push_back({"remedies", "What would save time, at most", remedies_table(basis)});
  report.tables.push_back({"account",
                           fmt::format("Where {} goes, {}", found.basis.owner.text(),
                                       format_duration(found.basis.steps.mean().total_ns)),
                           account_table(basis)});
  append_phases(run, report);
  note_phase(run, found.roles, report);
  note_missing(run, report);
  note_longest(steps, report);
  note_several_runs(run, report);
  return {std::move(report), verdict};
}

}  // namespace traceloom
