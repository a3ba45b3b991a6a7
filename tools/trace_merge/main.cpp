// trace-merge merges the traces of many ranks into one, on one clock.
#include "base/problems.h"
#include "base/units.h"
#include "clock/time_map.h"
#include "common/run_tool.h"
#include "common/serve.h"
#include "common/terminal.h"
#include "merge/merger.h"
#include "output/file_sink.h"
#include "output/sink.h"
#include "trace_merge/added_rows.h"
#include "trace_merge/merge_options.h"
#include "trace_merge/merge_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {
namespace {

MergeSummary merge_with_progress(MergeOptions options) {
  Progress progress("merging");
  options.progress = [&](std::uint64_t done, std::uint64_t total) { progress.show(done, total); };
  return merge_traces(options);
}

std::string clock_words(const MergedFile& file) {
  std::string words =
      fmt::format("clock by {}, offset {} ns", to_string(file.clock.method), file.clock.offset_ns);
  if (file.clock.error_ns)
    words += fmt::format(", error at most {}", format_duration(*file.clock.error_ns));
  if (file.clock.worst_error_ns != file.clock.error_ns)
    words += fmt::format(
        " {}, {} at its farthest event{}", file.clock.collectives ? "in its middle" : "at the sync",
        format_duration(file.clock.worst_error_ns.value_or(0)),
        file.clock.drift_ppm || file.clock.collectives ? "" : " (200 ppm of drift)");
  if (file.clock.drift_ppm)
    words += fmt::format(", drift {:+.3f} ppm{}", *file.clock.drift_ppm,
                         file.times->has_drift() ? ", interpolated" : "");
  if (const auto& found = file.clock.collectives) {
    if (!found->is_used && found->bound_ns > 0)
      words += fmt::format(", its collectives say {} more (±{})", format_duration(found->shift_ns),
                           format_duration(found->bound_ns));
    words +=
        fmt::format(", ends {} apart, 95 % at most {}", format_duration(found->residual_p50_ns),
                    format_duration(found->residual_p95_ns));
  }
  return words;
}

std::string file_words(const MergedFile& file) {
  const bool is_merged = file.rank_source == RankSource::merged;
  return fmt::format("{}: {} (by {}), {}", file.path,
                     is_merged ? "several ranks" : fmt::format("rank {}", file.rank),
                     to_string(file.rank_source), clock_words(file));
}

// Reports what was wrong with the inputs, file by file, and if `verbose`, a line about each file.
void report_inputs(const MergeCommand& command, const MergeSummary& summary, bool verbose) {
  for (const MergedFile& file : summary.files) {
    if (verbose) say(kTool, Tone::note, file_words(file));
    report_problems(kTool, file.path, file.problems, command.verbosity);
  }
  for (const RepeatedInput& file : summary.repeats)
    report_problems(kTool, file.path, file.problems, command.verbosity);
  for (const LeftOut& file : summary.left_out) say(kTool, Tone::warning, "left out: " + file.error);
  const std::vector<std::string>& shared = command.merge.plan.shared_flows;
  if (!shared.empty() && summary.shared_flows == 0)
    say(kTool, Tone::warning,
        fmt::format("--shared-ids: no flow event (s, t, f) has the category {}",
                    fmt::join(shared, " or ")));
  if (!summary.filter) return;
  for (const std::string& wish : unmet_wishes(command.merge.filter, *summary.filter))
    say(kTool, Tone::warning, wish);
}

// Returns ", 3 problems": how many problems were reported, without harmless irregularities.
std::string count_problems(const MergeSummary& summary) {
  std::uint64_t count = 0;
  for (const MergedFile& file : summary.files)
    for (const Problem problem : file.problems.kinds())
      if (describe(problem).severity != Severity::info) count += file.problems.count(problem);
  if (count == 0) return "";
  return ", " + count_of(count, "problem");
}

void print_summary(const MergeCommand& command, const MergeSummary& summary, double seconds) {
  report_inputs(command, summary, command.verbosity == Verbosity::verbose);
  if (!summary.unplaced.empty())
    say(kTool, Tone::warning,
        fmt::format("snapshots of {} left out: no trace of the rank is on their clock",
                    ranks_words(summary.unplaced, RankStyle::named)));
  // Time and speed matter only if the user had to wait.
  const std::string speed =
      seconds < 1 ? ""
                  : fmt::format(" in {:.1f} s ({:.0f} MB/s)", seconds,
                                static_cast<double>(summary.text_bytes) / 1e6 / seconds);
  const std::string filtered =
      summary.filter ? fmt::format(" ({} filtered away)", format_count(summary.filtered)) : "";
  const std::string added = command.merge.added.empty()
                                ? ""
                                : fmt::format(" and {} of added rows", format_count(summary.added));
  say(kTool, Tone::note,
      fmt::format("{} {}, {} {}, {}{}, {} of text{}{}", summary.files.size(),
                  plural(summary.files.size(), "file"), summary.ranks,
                  plural(summary.ranks, "rank"), count_of(summary.events, "event"),
                  filtered + added, format_bytes(summary.text_bytes), count_problems(summary),
                  speed));
}

void show_plan(const MergeCommand& command, const MergeSummary& summary) {
  const bool is_terminal_out = is_terminal(Stream::out);
  const std::string text = describe_plan(summary, wants_colour(Stream::out),
                                         is_terminal_out ? terminal_width(Stream::out) : 0);
  const std::unique_ptr<Sink> out =
      open_file_sink("-", {.for_people = true, .outlives_reader = true});
  out->write(text);
  out->close();
  report_inputs(command, summary, false);
}

// Opens the file before the merge, so that a path that cannot be written leaves the old output
// alone.
std::unique_ptr<Sink> open_report(const MergeCommand& command) {
  return command.report.empty() ? nullptr
                                : open_file_sink(command.report, {.outlives_reader = true});
}

void write_report(Sink& report, const MergeCommand& command, const MergeSummary& summary) {
  report.write(merge_report(summary, command.merge.output, command.kept_journals));
  report.close();
}

bool has_loss(const MergeSummary& summary) {
  return !summary.left_out.empty() ||
         std::any_of(summary.files.begin(), summary.files.end(),
                     [](const MergedFile& file) { return file.problems.has_loss(); });
}

std::string type_of(const std::string& path) {
  return packing_of_name(path) == Packing::gzip ? "application/gzip" : "application/json";
}

ExitCode merge(int argc, char** argv) {
  MergeCommand command;
  if (!read_command_line(argc, argv, command))
    return command.strict && !command.kept_journals.empty() ? ExitCode::no : ExitCode::done;
  std::optional<PrivateFolder> folder;
  std::optional<FileServer> server;
  if (command.serving.is_wanted) {
    if (command.merge.output.empty()) command.merge.output = folder.emplace().path(kServedTrace);
    // Before the merge, so that a port in use costs no time.
    server.emplace(std::vector<ServedFile>{{kServedTrace, type_of(command.merge.output),
                                            command.merge.output}},
                   command.serving.options());
  }
  command.merge.team = &tool_team();
  std::unique_ptr<Sink> report;
  tool_team().agree([&] {
    if (tool_team().is_first()) report = open_report(command);
  });
  // --strict and --report need the whole merge, even if nobody reads the trace any more.
  command.merge.outlives_reader = command.strict || report != nullptr;
  command.merge.before_replacing = [&](const MergeSummary& summary) {
    if (report) write_report(*report, command, summary);
  };
  const auto start = std::chrono::steady_clock::now();
  if (command.merge.format == MergeFormat::perfetto_tar && command.critical_path)
    throw UsageError("--critical-path: a tar has no row of all ranks; write a .json");
  if (command.critical_path) add_critical_path(command.merge);
  if (!command.memory.empty()) add_memory(command.memory, command.merge);
  const MergeSummary summary = merge_with_progress(command.merge);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (!tool_team().is_first()) return ExitCode::done;
  if (summary.filter && summary.filter->nothing_left)
    throw UsageError(explain_nothing_left(command.merge.filter, summary));
  if (command.merge.dry_run) {
    show_plan(command, summary);
    if (report) write_report(*report, command, summary);
  } else {
    print_summary(command, summary, elapsed.count());
  }
  if (server) {
    announce(kTool, *server, "");
    server->run();
  }
  const bool is_lossy = has_loss(summary) || !command.kept_journals.empty();
  return command.strict && is_lossy ? ExitCode::no : ExitCode::done;
}

}  // namespace
}  // namespace traceloom

int main(int argc, char** argv) {
  using namespace traceloom;
  return run_in_team({.name = std::string(kTool), .on_interrupt = remove_temporary_files}, argc,
                     argv, [&] { return merge(argc, argv); });
}
