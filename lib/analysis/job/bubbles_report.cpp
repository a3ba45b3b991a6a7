#include "analysis/job/job_reports.h"
#include "analysis/mesh/bubbles.h"
#include "analysis/mesh/pipeline.h"
#include "analysis/replay/what_if.h"
#include "analysis/reports/reports.h"
#include "output/json_writer.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace traceloom {
namespace {

// Appends the columns that ranks and stages have.
template <typename Row>
void append_parts(const Bubbles& found, ColumnsOf<Row>& columns) {
  using enum ColumnKind;
  using enum Readers;
  columns.push_back({"steps", "Steps", count, few, &Row::steps});
  columns.push_back({"step_ns", "Mean step", duration, &Row::step_ns});
  const auto if_any = [&](StepPart part) { return found.all.ns[part] > 0 ? most : programs; };
  const std::tuple<StepPart, const char*, Readers> parts[] = {
      {StepPart::compute, "Compute", all},
      {StepPart::collective_moving, "Coll", most},
      {StepPart::collective_waiting, "Coll wait", most},
      {StepPart::collective_unknown, "Coll ?", if_any(StepPart::collective_unknown)},
      {StepPart::message_moving, "Msg", most},
      {StepPart::message_waiting, "Msg wait", most},
      {StepPart::message_unknown, "Msg ?", if_any(StepPart::message_unknown)},
      {StepPart::loader, "Loader", most},
      {StepPart::idle, "Idle", most}};
  for (const auto& [part, title, readers] : parts)
    columns.push_back({fmt::format("{}_share", to_string(part)), title, share, readers,
                       [part = part](const Row& of) { return of.share(part); }});
  columns.push_back({"bubble_share", "Bubble", share, &Row::bubble_share});
  columns.push_back({"waiting_share", "Waiting", share, &Row::waiting_share});
}

Table stages_table(const Bubbles& found) {
  ColumnsOf<StageParts> columns{
      {"stage", "Stage", ColumnKind::count, &StageParts::stage},
      {"ranks", "Of ranks", ColumnKind::count, Readers::some, &StageParts::ranks},
  };
  append_parts(found, columns);
  return make_table(found.stages, columns);
}

Table ranks_table(const Bubbles& found) {
  ColumnsOf<RankParts> columns{{"rank", "Rank", ColumnKind::count, &RankParts::rank}};
  append_parts(found, columns);
  return make_table(found.ranks, columns);
}

// The messages from one rank to another.
struct LinkRow {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t wait_ns = 0;  // of both ends
  bool inferred = false;
  bool is_eager = false;  // the receiver sees only the copy out of its buffer

  void add(const Message& message) {
    ++count;
    add_to(bytes, message.bytes);
    add_to(transfer_ns, message.transfer_ns);
    for (const CollectivePart* const part : {&message.sent, &message.received})
      add_to(wait_ns,
             std::max<std::int64_t>(part->end_ns - part->start_ns - message.transfer_ns, 0));
    inferred = inferred || message.is_inferred;
    is_eager = is_eager || message.is_eager;
  }
};

Table links_table(const Run& run, const Mesh& mesh) {
  std::map<std::pair<std::int64_t, std::int64_t>, LinkRow> links;
  for (const Message& message : match_collectives(run).messages) {
    LinkRow& link = links[{message.from, message.to}];
    link.from = message.from;
    link.to = message.to;
    link.add(message);
  }
  std::vector<LinkRow> rows;
  for (const auto& [ends, link] : links) rows.push_back(link);
  using enum ColumnKind;
  using enum Readers;
  using Row = LinkRow;
  const auto stage_of = [&mesh](std::int64_t rank) {
    const MeshPlace* const place = mesh.place_of(rank);
    return place == nullptr ? std::nullopt : std::optional(place->stage);
  };
  const ColumnsOf<Row> columns{
      {"from", "From", count, &Row::from},
      {"to", "To", count, &Row::to},
      {"from_stage", "Of stage", count, some, [=](auto& of) { return stage_of(of.from); }},
      {"to_stage", "To stage", count, some, [=](auto& of) { return stage_of(of.to); }},
      {"count", "Messages", count, &Row::count},
      {"bytes", "Bytes", bytes, most, [](auto& of) { return cell_if(of.bytes > 0, of.bytes); }},
      {"mean_transfer_ns", "Moving", duration, [](auto& of) { return of.transfer_ns / of.count; }},
      {"mean_wait_ns", "Waiting", duration, [](auto& of) { return of.wait_ns / of.count; }},
      {"gbps", "GB/s", number,
       [](auto& of) {
         return cell_if(of.bytes > 0 && of.transfer_ns > 0 && !of.is_eager,
                        ratio(of.bytes, of.transfer_ns));
       }},
      {"is_inferred", "Inferred", flag, few, &Row::inferred},
  };
  return make_table(rows, columns);
}

Table grid_table(const std::vector<StageWork>& rows) {
  using enum ColumnKind;
  using Row = StageWork;
  const ColumnsOf<Row> columns{
      {"stage", "Stage", count, &Row::stage},
      {"rank", "Rank", count, Readers::some, &Row::rank},
      {"forward", "Forward", count, Readers::some, &Row::forward},
      {"backward", "Backward", count, Readers::some, &Row::backward},
      {"order", "Forward and backward work, in order", text, &Row::order},
  };
  return make_table(rows, columns);
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string parts_line(const Bubbles& found) {
  const std::optional<double> waiting = found.all.waiting_share();
  if (!found.all.has_communication()) {
    const double loader = found.all.share(StepPart::loader);
    return fmt::format(
        "A mean step takes {}: {} computing,{} {} idle. No rank here communicates, so none waits "
        "for another; trace-stats bottleneck says what limits it.",
        format_duration(found.all.step_ns()), percent(found.all.share(StepPart::compute)),
        loader > 0 ? fmt::format(" {} waiting for data,", percent(loader)) : "",
        percent(found.all.share(StepPart::idle)));
  }
  return fmt::format("A mean step takes {}: {} computing, {} bubble, {}.",
                     format_duration(found.all.step_ns()),
                     percent(found.all.share(StepPart::compute)), percent(found.all.bubble_share()),
                     waiting ? percent(*waiting) + " waiting" : "waiting not known");
}

void note_unknown(const Bubbles& found, Report& report) {
  if (found.all.has_communication() && !found.all.waiting_share())
    report.notes.push_back(fmt::format(
        "{} of the communication that no computing hides is in pieces of which the other "
        "ranks are not known: they move data or wait, so the waiting is not known",
        percent(found.all.unknown_share())));
}

std::string totals_json(const Bubbles& found) {
  return json_object([&](JsonWriter& json) {
    json.member("step_ns", found.all.step_ns());
    json.member("compute_share", found.all.share(StepPart::compute));
    json.member("bubble_share", found.all.bubble_share());
    json.member("waiting_share", found.all.waiting_share());
    json.member("unknown_share", found.all.unknown_share());
  });
}

std::string odd_json(const WhatIf& job) {
  std::string list = "[";
  for (const Gain& gain : job.odd())
    list += (list.size() == 1 ? "" : ",") + json_object([&](JsonWriter& json) {
              json.member("set", gain.set());
              json.member("gain_ns", gain.gain_ns);
              json.member("least_ns", gain.least_ns);
              json.member("most_ns", gain.most_ns);
              json.member("steps_share", gain.steps_share);
            });
  return list + "]";
}

}  // namespace

Report bubbles_report(const Run& run) {
  constexpr std::size_t kMostRows = 64;  // shown to people
  const Mesh& mesh = find_mesh(run);
  const std::vector<RankRoles> roles = find_main_roles(run);
  const Bubbles found = find_bubbles(run, mesh, roles);
  const WhatIf& job = find_job_gains(run);
  Report report("bubbles", run);
  report.values.emplace_back("mean", totals_json(found));
  report.values.emplace_back("odd", odd_json(job));
  if (found.all.steps > 0) report.headline.push_back(parts_line(found));
  for (const Gain& gain : job.odd())
    report.headline.push_back("If repaired: " + job.words(gain) + ".");
  report.tables.push_back({"stages", "", stages_table(found)});
  report.tables.push_back({"ranks", "By rank", ranks_table(found)});
  report.tables.push_back({"links", "Messages", links_table(run, mesh), false, "mean_transfer_ns"});
  report.tables.push_back(
      {"grid", "Work of each stage in the median step", grid_table(find_grid(run, mesh, roles))});
  for (ReportTable& table : report.tables) table.most_for_people = kMostRows;
  note_unknown(found, report);
  RankNotes notes;
  for (const std::int64_t rank : found.without_devices)
    notes.add(rank, "no device activity, unlike others: left out");
  notes.append_to(report);
  if (const std::string why = job.doubt(); !why.empty())
    report.notes.push_back("what holds up the job is not known: " + why);
  note_mesh(mesh, report);
  note_phase(run, roles, report);
  note_missing(run, report);
  return report;
}

}  // namespace traceloom
