#include "analysis/collectives/collectives.h"
#include "analysis/numbers.h"
#include "analysis/reports/reports.h"
#include "analysis/verdict/verdict_words.h"
#include "analysis/waits/rank_waits.h"
#include "analysis/waits/step_roles.h"
#include "analysis/work/work_names.h"
#include "base/units.h"
#include "clock/alignment_words.h"
#include "output/json_writer.h"
#include "page/html/figures.h"
#include "page/sections.h"
#include "page/step_grid.h"
#include "page/timeline/timeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <string>

namespace traceloom {
namespace {

void write_list(HtmlWriter& html, std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  html.element("h3", title);
  html.open("ul");
  for (const std::string& line : lines) html.element("li", line);
  html.close();
}

void write_verdict(HtmlWriter& html, const PageRun& page) {
  const Verdict& verdict = page.bottleneck.verdict;
  html.open("div", {{"class", fmt::format("verdict {}", limit_name(verdict.kind))},
                    {"id", page.id("verdict")},
                    {"data-kind", limit_name(verdict.kind)}});
  html.element("p", verdict_headline(verdict), {{"class", "lead"}});
  write_list(html, "Why", verdict.evidence);
  write_list(html, "Left out", verdict.left_out);
  write_list(html, "What to do", advice_lines(verdict));
  write_command(html, page, "bottleneck");
  html.close_line();
}

void write_chip(HtmlWriter& html, std::string_view name, std::string_view value,
                bool is_warning = false) {
  html.open("li", {{"class", is_warning ? "warn" : "fact"}});
  html.element("b", name);
  html.text(value);
  html.close();
}

std::string steps_text(const std::vector<std::int64_t>& lengths) {
  std::int64_t sum = 0;
  for (const std::int64_t ns : lengths) add_to(sum, ns);
  return fmt::format(
      "{} (median {}, p99 {})", format_duration(sum / static_cast<std::int64_t>(lengths.size())),
      format_duration(percentile(lengths, 50)), format_duration(percentile(lengths, 99)));
}

std::string devices_text(const Run& run) {
  std::set<std::string> devices;
  for (const RunFile& file : run.files) devices.insert(file.devices.begin(), file.devices.end());
  if (!devices.empty()) return fmt::format("{}", fmt::join(devices, ", "));
  const bool has_any = std::any_of(run.ranks.begin(), run.ranks.end(),
                                   [](const RankEvents& rank) { return rank.has_devices(); });
  return has_any ? "not named" : "none in these traces";
}

std::string clocks_text(const Run& run) {
  if (run.ranks.size() < 2) return "one rank: its own";
  if (!run.common_clock) return "ranks cannot be compared";
  std::set<std::string_view> methods;
  for (const RunFile& file : run.files)
    if (file.error.empty() && !file.is_repeat) methods.insert(to_string(file.clock));
  return fmt::format("by {}", fmt::join(methods, ", "));
}

void write_chips(HtmlWriter& html, const PageRun& page) {
  const Run& run = page.run;
  std::uint64_t events = 0;
  std::uint64_t problems = page.memory.errors.size();
  std::int64_t world = 0;
  for (const RunFile& file : run.files) {
    events += file.events;
    world = std::max(world, file.world_size);
    for (const Problem kind : file.problems.kinds())
      if (describe(kind).severity != Severity::info) problems += file.problems.count(kind);
  }
  const auto ranks = static_cast<std::int64_t>(run.ranks.size());
  html.open("ul", {{"class", "chips"}});
  write_chip(html, "Ranks",
             world > ranks ? fmt::format("{} of {}", ranks, world) : std::to_string(ranks),
             world > ranks);
  std::vector<RankRoles> main = page.roles;
  keep_phase(main, main_phase(main));
  const std::vector<std::int64_t> lengths = lengths_ns(longest_steps(main));
  write_chip(html, "Steps", format_count(lengths.size()));
  if (!lengths.empty()) write_chip(html, "Mean step, on its slowest rank", steps_text(lengths));
  write_chip(html, "Devices", devices_text(run));
  write_chip(html, "Clocks", clocks_text(run), run.ranks.size() > 1 && !run.common_clock);
  write_chip(html, "Events", format_count(events));
  write_chip(html, "Repaired or left out", problems == 0 ? "nothing" : format_count(problems),
             problems > 0);
  html.close_line();
}

void write_others(HtmlWriter& html, const Run& run) {
  std::vector<std::string> notes;
  const auto add = [&](std::int64_t rank, std::size_t count, std::string_view what) {
    if (count > 0) notes.push_back(fmt::format("rank {}: {} {}", rank, format_count(count), what));
  };
  for (const RankEvents& rank : run.ranks) {
    add(rank.rank, rank.others.devices,
        "devices, those with the least work, are shown as device -1");
    add(rank.rank, rank.others.streams, "streams, those with the least work, are shown as one");
    add(rank.rank, rank.others.counters, "counters, those with the fewest values, are left out");
  }
  if (run.labels.has_others())
    notes.push_back(fmt::format("names after the first {} are shown as one, (other names)",
                                format_count(kMostKinds)));
  write_notes(html, notes);
}

}  // namespace

void write_overview(HtmlWriter& html, const PageRun& page) {
  write_verdict(html, page);
  write_chips(html, page);
  write_others(html, page.run);
  if (!page.grid.cells.empty())
    write_step_grid(html, page, page.grid, page.bottleneck.verdict.named_rank);
  write_tables(html, page, page.bottleneck.report, "Roles");
}

namespace {

// Where the time goes: roles by rank and by step, and the wait for data.

void write_ranks(HtmlWriter& html, const PageRun& page) {
  struct RankMean {
    std::int64_t rank;
    StepRoles mean;
  };
  std::vector<RankMean> ranks;
  RoleTimes sums;
  std::int64_t room_ns = 1;
  for (const RankRoles& rank : page.roles) {
    StepSum sum;
    sum.add_counted(rank.steps);
    if (sum.count() == 0) continue;
    ranks.push_back({rank.rank, sum.mean()});
    sums.add(ranks.back().mean.exclusive);
    room_ns = std::max(room_ns, ranks.back().mean.total_ns);
  }
  if (ranks.empty()) return;
  const std::size_t all = ranks.size();
  const bool is_cut = keep_largest(ranks, page.room(kMostBars),
                                   [](const RankMean& one) { return one.mean.total_ns; });
  std::vector<Bar> bars;
  bars.reserve(ranks.size());
  for (const auto& [rank, mean] : ranks)
    bars.push_back(role_bar(fmt::format("rank {}", rank), mean.exclusive, mean.total_ns, room_ns));
  html.element("h3",
               is_cut ? fmt::format("The mean step, of the {} ranks of {} on which it is longest",
                                    ranks.size(), all)
                      : "The mean step, by rank");
  write_command(html, page, "steps");
  write_legend(html, role_names(sums));
  write_stacked_bars(html, "The mean step of each rank, split into roles", bars);
}

struct StepColumn {
  std::string label;
  StepRoles mean;          // over ranks, of its longest step
  std::int64_t loader_ns;  // the longest exposed wait of a rank
};

// The steps of all ranks as columns; neighbours share one if there are many.
struct StepColumns {
  std::size_t steps = 0;
  std::size_t a_column = 1;
  std::vector<StepColumn> columns = {};
};

StepColumns find_step_columns(const std::vector<RankRoles>& roles) {
  std::map<StepKey, std::pair<StepSum, std::int64_t>> steps;
  for (const RankRoles& rank : roles)
    for (const StepRoles& step : rank.steps) {
      if (!step.step.counted) continue;
      auto& [sum, loader_ns] = steps[key_of(step.step)];
      sum.add(step);
      loader_ns = std::max(loader_ns, step.exclusive[Role::dataloader]);
    }
  StepColumns found{steps.size(), (steps.size() + kMostColumns - 1) / kMostColumns};
  const bool epochs = has_epochs(roles);
  std::size_t i = 0;
  for (const auto& [key, step] : steps) {
    StepColumn column{step_label(key, epochs), step.first.mean(), step.second};
    if (i++ % found.a_column == 0) {
      found.columns.push_back(std::move(column));
      continue;
    }
    StepColumn& kept = found.columns.back();
    if (column.mean.total_ns > kept.mean.total_ns) kept.mean = column.mean;
    kept.loader_ns = std::max(kept.loader_ns, column.loader_ns);
  }
  return found;
}

void write_step_bars(HtmlWriter& html, const StepColumns& columns, std::int64_t room_ns,
                     const std::string& words, const std::vector<Bar>& bars) {
  html.element("p", fmt::format("Full height: {}.", format_duration(room_ns)),
               {{"class", "command"}});
  write_columns(html, words, bars, fmt::format("step {}", columns.columns.front().label),
                fmt::format("step {}", columns.columns.back().label));
}

void write_steps(HtmlWriter& html, const PageRun& page) {
  const StepColumns columns = find_step_columns(page.roles);
  if (columns.steps < 2) return;
  std::int64_t room_ns = 1;
  std::int64_t most_wait_ns = 1;
  for (const StepColumn& column : columns.columns) {
    room_ns = std::max(room_ns, column.mean.total_ns);
    most_wait_ns = std::max(most_wait_ns, column.loader_ns);
  }
  std::vector<Bar> bars;
  std::vector<Bar> waits;
  for (const auto& [label, mean, loader_ns] : columns.columns) {
    bars.push_back(role_bar(label, mean.exclusive, mean.total_ns, room_ns));
    for (BarPart& part : bars.back().parts)
      part.words = fmt::format("step {}: {} of {}", label, part.words, bars.back().total);
    const std::string wait = format_duration(loader_ns);
    waits.push_back({label, wait, {time_part("dataloader", "", loader_ns, most_wait_ns)}});
    waits.back().parts.front().words = fmt::format("step {}: {}", label, wait);
  }
  html.element("h3",
               columns.a_column > 1
                   ? fmt::format("Each step, the mean of all ranks; a column is the longest of {} "
                                 "steps",
                                 columns.a_column)
                   : "Each step, the mean of all ranks");
  write_step_bars(html, columns, room_ns,
                  fmt::format("{} steps, the longest {}", columns.steps, format_duration(room_ns)),
                  bars);
  if (most_wait_ns <= 1) return;
  html.element("h3", "Wait for data in each step, of the rank that waits longest");
  write_command(html, page, "dataloader");
  write_step_bars(html, columns, most_wait_ns,
                  fmt::format("Wait for data, at most {}", format_duration(most_wait_ns)), waits);
}

// The first table of `steps`, longest steps first if not all have room.
Report steps_for_page(const PageRun& page) {
  Report report = steps_report(page.run, {.most_rows = kMostKinds});
  Table& rows = report.tables.front().table;
  if (rows.rows().size() > page.room(kMostTableRows)) rows.sort_by("total_ns");
  return report;
}

}  // namespace

void write_time_section(HtmlWriter& html, const PageRun& page) {
  write_ranks(html, page);
  write_steps(html, page);
  write_tables(html, page, steps_for_page(page), "Steps");
  write_tables(html, page, dataloader_report(page.run), "Wait for data");
}

namespace {

// Communication: transfers and waiting by rank, who waits for whom, collectives by kind.

// The communication of a rank in a mean step that no work of its devices hides. Each instant counts
// once, for the first of these.
struct CommOfRank {
  std::int64_t rank = 0;
  std::array<std::int64_t, 4> ns = {};

  std::int64_t total_ns() const { return std::accumulate(ns.begin(), ns.end(), std::int64_t{0}); }
};
struct CommPart {
  std::string_view key;
  std::string_view look;
  std::string_view words;
};
constexpr std::array<CommPart, 4> kCommParts{{
    {"collective_transfer_ns", "transfer", "collectives: moving"},
    {"collective_wait_ns", "waiting", "collectives: waiting"},
    {"p2p_transfer_ns", "message", "messages (sends, receives): moving"},
    {"p2p_wait_ns", "message-waiting", "messages: waiting for the other end"},
}};

// The time from which a part moves data. The shortest part stands for all of them, although ranks
// leave a little apart; on a common clock that agrees with it, it is when the last one has come.
std::int64_t moves_from(const Collective& what, const CollectivePart& part, bool common_clock) {
  const std::int64_t from_ns = part.start_ns + what.wait_ns(part);
  if (!common_clock || what.parts.size() < 2) return from_ns;
  const std::int64_t last_ns = std::clamp(what.last(true).start_ns, part.start_ns, part.end_ns);
  return 10 * std::abs(last_ns - from_ns) <= what.latency_ns() ? last_ns : from_ns;
}

std::vector<CommOfRank> find_comm(const PageRun& page) {
  std::vector<std::array<Intervals, 4>> sets(page.run.ranks.size());
  for (const auto* const list : {&page.collectives.matched, &page.collectives.single})
    for (const Collective& what : *list) {
      const std::size_t first = is_point_to_point(what.name) ? 2 : 0;
      for (const CollectivePart& part : what.parts) {
        const std::int64_t moves_ns = moves_from(what, part, page.run.common_clock);
        sets[part.rank][first].push_back({moves_ns, part.end_ns});
        sets[part.rank][first + 1].push_back({part.start_ns, moves_ns});
      }
    }
  std::vector<CommOfRank> found;
  for (std::size_t i = 0; i < page.roles.size(); ++i) {
    StepSum steps;
    steps.add_counted(page.roles[i].steps);
    if (steps.count() == 0) continue;
    Intervals left = page.roles[i].counted();
    for (const Role role : {Role::kernel, Role::memcpy, Role::memset})
      left = subtract(left, unpacked(page.roles[i].sets[role]));
    CommOfRank one{page.roles[i].rank};
    for (std::size_t part = 0; part < one.ns.size(); ++part) {
      const Intervals set = unite(std::move(sets[i][part]));
      one.ns[part] = total_ns(intersect(left, set)) / static_cast<std::int64_t>(steps.count());
      left = subtract(left, set);
    }
    if (one.total_ns() > 0) found.push_back(one);
  }
  return found;
}

void write_transfers(HtmlWriter& html, const PageRun& page) {
  std::vector<CommOfRank> ranks = find_comm(page);
  if (ranks.empty()) return;
  html.data(page.id("comm-times"), "application/json", json_object([&](JsonWriter& json) {
              write_objects(json, "ranks", ranks, [&](const CommOfRank& one) {
                json.member("rank", one.rank);
                for (std::size_t i = 0; i < kCommParts.size(); ++i)
                  json.member(kCommParts[i].key, one.ns[i]);
              });
            }));
  std::int64_t room_ns = 1;
  for (const CommOfRank& one : ranks) room_ns = std::max(room_ns, one.total_ns());
  keep_largest(ranks, page.room(kMostBars), [](const CommOfRank& one) { return one.total_ns(); });
  std::vector<Bar> bars;
  bars.reserve(ranks.size());
  std::array<std::int64_t, 4> sums = {};
  for (const CommOfRank& one : ranks) {
    bars.push_back({fmt::format("rank {}", one.rank), format_duration(one.total_ns()), {}});
    for (std::size_t i = 0; i < kCommParts.size(); ++i) {
      add_to(sums[i], one.ns[i]);
      bars.back().parts.push_back(
          time_part(kCommParts[i].look, kCommParts[i].words, one.ns[i], room_ns));
    }
  }
  std::vector<std::string_view> looks;
  html.element("h3", "Moving data and waiting in a mean step, by rank");
  html.element("p", "Communication that no work of the devices hides; each instant counts once.");
  for (std::size_t i = 0; i < kCommParts.size(); ++i)
    if (sums[i] > 0) looks.push_back(kCommParts[i].look);
  write_legend(html, looks);
  write_stacked_bars(html, "Time in communication of each rank", bars);
}

}  // namespace

void write_comm_section(HtmlWriter& html, const PageRun& page) {
  const Report stragglers = stragglers_report(page.run);
  for (const std::string& line : stragglers.headline) html.element("p", line);
  const Report comm = comm_report(page.run, {});
  write_transfers(html, page);
  write_wait_matrix(html, page);
  write_tables(html, page, stragglers, "Who comes late, by rank");
  write_tables(html, page, comm, "Collectives by kind");
}

}  // namespace traceloom
