#include "trace_merge/merge_report.h"

#include "output/json_writer.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace traceloom {
namespace {

constexpr int kIndent = 2;

using FilesOfRank = std::map<std::int64_t, std::vector<const MergedFile*>>;

FilesOfRank files_by_rank(const MergeSummary& summary) {
  FilesOfRank files;
  for (const MergedFile& file : summary.files) {
    if (file.events_of_rank.empty()) files[file.rank].push_back(&file);
    for (const auto& [rank, events] : file.events_of_rank) files[rank].push_back(&file);
  }
  return files;
}

void add(std::optional<std::uint64_t>& sum, std::optional<std::uint64_t> events) {
  sum = sum && events ? std::optional(*sum + *events) : std::nullopt;
}

void write_file(JsonWriter& json, const MergedFile& file, const MergedRankEvents& events,
                bool is_filtered) {
  json.begin_object();
  json.member("path", file.path);
  json.member("events", events.events);
  if (is_filtered) json.member("filtered", events.filtered);
  json.member("method", to_string(file.clock.method));
  json.member("offset_ns", file.clock.offset_ns);
  json.member("error_ns", file.clock.error_ns);
  json.member("worst_error_ns", file.clock.worst_error_ns);
  json.member("drift_ppm", file.clock.drift_ppm);
  write_estimate(json, file.clock);
  json.end_object();
}

void write_rank(JsonWriter& json, std::int64_t rank, const std::vector<const MergedFile*>& files,
                bool is_filtered) {
  MergedRankEvents sum{0, 0, 0};
  json.begin_object();
  json.member("rank", rank);
  json.member("evidence", to_string(files.front()->rank_source));
  json.begin_array("files");
  for (const MergedFile* file : files) {
    const MergedRankEvents events = file->events_of(rank);
    write_file(json, *file, events, is_filtered);
    sum.events_in += events.events_in;
    add(sum.events, events.events);
    add(sum.filtered, events.filtered);
  }
  json.end_array();
  json.member("events_in", sum.events_in);
  json.member("events_out", sum.events);
  if (is_filtered) json.member("events_filtered", sum.filtered);
  json.end_object();
}

void write_journal(JsonWriter& json, const KeptJournal& journal) {
  ProblemCounts problems;
  problems.add(Problem::journal_kept, 0);
  problems.explain(Problem::journal_kept, journal.problem);
  write_problems(json, journal.path, problems);
}

// Formats the drift as text, since no kind of cell has parts per million.
Cell drift_cell(const ClockSummary& clock) {
  return clock.drift_ppm ? Cell(fmt::format("{:+.3f} ppm", *clock.drift_ppm)) : Cell();
}

bool any_drift(const MergeSummary& summary) {
  return std::any_of(summary.files.begin(), summary.files.end(),
                     [](const MergedFile& file) { return file.clock.drift_ppm.has_value(); });
}

bool any_grows(const MergeSummary& summary) {
  return std::any_of(summary.files.begin(), summary.files.end(), [](const MergedFile& file) {
    return file.clock.worst_error_ns != file.clock.error_ns;
  });
}

}  // namespace

std::string merge_report(const MergeSummary& summary, const std::string& output,
                         const std::vector<KeptJournal>& kept_journals) {
  std::string text;
  JsonWriter json(text, kIndent);
  json.begin_object();
  json.member("schema_version", 1);
  json.member("output", output);
  json.member("origin_unix_ns", summary.origin_ns);
  json.begin_array("ranks");
  for (const auto& [rank, files] : files_by_rank(summary))
    write_rank(json, rank, files, summary.filter.has_value());
  json.end_array();
  json.begin_array("problems");
  for (const MergedFile& file : summary.files) write_problems(json, file.path, file.problems);
  for (const RepeatedInput& file : summary.repeats) write_problems(json, file.path, file.problems);
  for (const KeptJournal& journal : kept_journals) write_journal(json, journal);
  json.end_array();
  json.key("left_out");
  write_left_out(json, summary.left_out);
  json.end_object();
  return text + "\n";
}

std::string describe_plan(const MergeSummary& summary, bool colour, int width) {
  using enum ColumnKind;
  const ColumnsOf<MergedFile> files{
      {"path", "File", text, &MergedFile::path},
      {"rank", "Rank", count, &MergedFile::rank},
      {"evidence", "By", text, [](auto& of) { return to_string(of.rank_source); }},
      {"method", "Clock by", text, [](auto& of) { return to_string(of.clock.method); }},
      {"offset_ns", "Offset", duration, [](auto& of) { return of.clock.offset_ns; }},
      {"error_ns", "Error", duration, [](auto& of) { return of.clock.error_ns; }},
      {"worst_error_ns", "At worst", duration, any_grows(summary),
       [](auto& of) { return of.clock.worst_error_ns; }},
      {"drift_ppm", "Drift", text, any_drift(summary),
       [](auto& of) { return drift_cell(of.clock); }},
      {"events", "Events", count, &MergedFile::events_in},
      {"kept", "Kept", count, summary.filter.has_value(), &MergedFile::events},
  };
  const ColumnsOf<MergedProcess> tracks{
      {"rank", "Rank", count, &MergedProcess::rank},
      {"process", "Process", text, &MergedProcess::name},
      {"tracks", "Tracks", count, [](auto& of) { return of.tracks.size(); }},
      {"names", "Names", text,
       [](auto& of) { return fmt::format("{}", fmt::join(of.tracks, ", ")); }},
  };
  const TextStyle style{colour, width};
  return render_table(make_table(summary.files, files), TableFormat::text, style) + "\n" +
         render_table(make_table(summary.processes, tracks), TableFormat::text, style);
}

}  // namespace traceloom
