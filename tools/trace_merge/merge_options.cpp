#include "trace_merge/merge_options.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/units.h"
#include "common/did_you_mean.h"
#include "common/help_formatter.h"
#include "common/options.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/selection_options.h"
#include "common/tool_team.h"
#include "input/input_list.h"
#include "output/gzip_sink.h"
#include "trace_merge/filter_options.h"
#include "trace_merge/recover_inputs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

// "3=+1.5ms" -> {3, 1'500'000}
std::pair<std::int64_t, std::int64_t> read_offset(const std::string& text) {
  const char* const end = text.data() + text.size();
  std::int64_t rank = -1;
  const auto [equals, error] = std::from_chars(text.data(), end, rank);
  std::string_view time(equals, static_cast<std::size_t>(end - equals));
  const bool has_rank = error == std::errc{} && rank >= 0 && time.starts_with('=');
  if (has_rank) time.remove_prefix(1);
  const std::optional<std::int64_t> ns = parse_duration(time);
  if (!has_rank || !ns)
    throw UsageError(
        fmt::format("--offset: '{}' is not RANK=TIME (try 3=1.5ms or 3=-200us)", text));
  return {rank, *ns};
}

AlignBy read_align_by(const std::string& name) {
  if (const std::optional<AlignBy> by = parse_align_by(name)) return *by;
  throw UsageError(fmt::format("--align: '{}' is none of auto, sync, base, none{}", name,
                               did_you_mean(name, {"auto", "sync", "base", "none"})));
}

MergeFormat read_format(const std::string& name, const std::string& output) {
  if (name.empty()) return format_of_name(output);
  if (const std::optional<MergeFormat> format = parse_merge_format(name)) return *format;
  throw UsageError(fmt::format("--format: '{}' is neither json nor perfetto-tar{}", name,
                               did_you_mean(name, {"json", "perfetto-tar"})));
}

PidLayout read_pids(const std::string& name) {
  if (name == "rank") return PidLayout::rank;
  if (name == "split") return PidLayout::split;
  throw UsageError(fmt::format("--pids: '{}' is neither rank nor split{}", name,
                               did_you_mean(name, {"rank", "split"})));
}

DriftMode read_drift(const std::string& name) {
  if (const std::optional<DriftMode> mode = parse_drift_mode(name)) return *mode;
  throw UsageError(fmt::format("--drift: '{}' is neither constant nor linear{}", name,
                               did_you_mean(name, {"constant", "linear"})));
}

std::vector<std::string> read_shared_ids(const std::string& list) {
  std::vector<std::string> categories = split_words(list);
  for (const std::string& category : categories)
    if (category.empty())
      throw UsageError(
          fmt::format("--shared-ids: '{}' has a category without a name (try rpc)", list));
  return categories;
}

void read_origin(const std::string& text, PlanOptions& plan) {
  plan.origin = text == "keep"  ? OriginKind::keep
                : text == "min" ? OriginKind::first_event
                                : OriginKind::given;
  if (plan.origin != OriginKind::given) return;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, plan.origin_ns);
  if (error != std::errc{} || stop != end)
    throw UsageError(
        fmt::format("--origin: '{}' is not min, keep or a Unix time in nanoseconds", text));
}

// Options whose text is read after parsing, since its meaning depends on other options.
struct MergeWords {
  std::vector<std::string> inputs;
  std::string format;
  std::string pids = "rank";
  std::string align_by = "auto";
  std::vector<std::string> offsets;
  std::optional<std::string> shared_ids;
  std::string drift = "constant";
  std::string origin = "min";
  FilterOptions filter;
  std::uint64_t max_memory = 0;
  bool recover = false;
};

void add_output_options(CLI::App& app, MergeCommand& command) {
  const std::string group = "Output";
  // Composer's merger spells it --output_file.
  add_output(app, command.merge.output)->group(group);
  app.add_option("--output_file", command.merge.output)->group("");
  app.add_option("--gzip-level", command.merge.gzip_level,
                 fmt::format("Compress from {} (fast) to {} (small)", kMinGzipLevel, kMaxGzipLevel))
      ->group(group)
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--sort", command.merge.plan.sort_by_time,
               "Write all events in time order\n"
               "Needs twice the output's size on its disk while it works.")
      ->group(group);
  app.add_option("--report", command.report, "Write as JSON what was done to each input")
      ->group(group)
      ->type_name("FILE");
  add_serve(app, command.serving, "the merged trace", group);
  app.add_flag("--dry-run", command.merge.dry_run,
               "Show files, ranks, clocks and tracks; write nothing")
      ->group(group);
}

CLI::Option* add_word(CLI::App& app, const std::string& name, std::string& word,
                      const std::string& values, const std::string& help) {
  return app.add_option(name, word, help)->type_name(values)->group(kAdvancedGroup);
}

void add_clock_options(CLI::App& app, MergeWords& words) {
  add_word(app, "--align", words.align_by, "auto|sync|base|none",
           "Evidence that aligns clocks\n"
           "auto uses the first that exists: (1) clock syncs of the recorder, (2) collectives that "
           "the ranks have in common, if they contradict 3 or 4, (3) other clock syncs, (4) base "
           "times. sync uses clock syncs only, base uses base times only, none leaves all clocks "
           "as they are.")
      ->capture_default_str();
  app.add_option("--offset", words.offsets,
                 "Shift a rank by TIME (3=-1.5ms)\n"
                 "Replaces what the clock evidence of the rank says. Repeat it for other ranks.")
      ->group(kAdvancedGroup)
      ->type_name("RANK=TIME")
      ->allow_extra_args(false)
      ->take_all();
  add_word(app, "--drift", words.drift, "constant|linear",
           "Offset between syncs\n"
           "constant gives each file its own offset. linear interpolates the offset between the "
           "clock syncs of a rank, so durations change by as many ppm as the clock drifts.")
      ->capture_default_str();
  add_word(app, "--origin", words.origin, "min|keep|NS",
           "What time 0 stands for\n"
           "min: the first event. keep: the time 0 of the inputs, such as Unix time. NS: a Unix "
           "time in nanoseconds.")
      ->capture_default_str();
}

void add_row_options(CLI::App& app, MergeWords& words) {
  add_word(app, "--format", words.format, "json|perfetto-tar",
           "Form of the output [default: by name]\n"
           "json is one trace. perfetto-tar is a tar of one trace for each rank with a manifest "
           "that names their clocks, for Perfetto 58 or later; the default for .tar, .tar.gz and "
           ".tgz.");
  add_word(app, "--pids", words.pids, "rank|split",
           "Rows by rank or by process\n"
           "rank makes one process of each rank. split keeps each of its processes and GPUs as a "
           "group of rows of its own, labelled with the rank.")
      ->capture_default_str();
  app.add_option(
         "--shared-ids", words.shared_ids,
         "Categories whose arrows join ranks\n"
         "Flow events (s, t, f) of these categories lead from rank to rank, as those of "
         "remote calls do: both ends need the same category, name and id. Other arrows stay "
         "within a file.")
      ->group(kAdvancedGroup)
      ->type_name("LIST");
}

void add_run_options(CLI::App& app, MergeCommand& command, MergeWords& words) {
  app.add_flag("--recover", words.recover,
               "First complete traces of killed processes\n"
               "Completes them from the recorder's journals in the given folders, then deletes "
               "these. Recovered traces are merged even if not named as inputs. Journals of other "
               "users, and of traces outside the given folders, are left alone.")
      ->group(kCommonGroup);
  add_threads(app, command.merge.threads);
  add_keep_going(app, command.merge.keep_going);
  add_strict(app, command.strict);
  add_verbose(app, command.verbosity);
  add_mpi(app);
}

void add_limits(CLI::App& app, MergeCommand& command, MergeWords& words) {
  add_size(app, "--max-memory", words.max_memory,
           "Limit memory to SIZE (128MiB)\n"
           "Tracks, ids and open events need memory in addition. A small limit means fewer chunks "
           "and threads at a time, and events larger than about a tenth of it are left out. The "
           "default is about 10 MiB, and 7 MiB for each thread.")
      ->group(kAdvancedGroup);
  add_count(app, "--max-tracks", command.merge.max_tracks,
            "Limit on threads\nMore are refused. Each takes some 1.8 KB of memory.")
      ->default_str(std::to_string(kMostTracks))
      ->group(kAdvancedGroup);
  add_count(
      app, "--max-open", command.merge.max_open_begins,
      "Limit on open begin events\n"
      "More begin events (B) of a file that are open at the same time are refused. Each takes "
      "some 1.3 KB of memory.")
      ->default_str(std::to_string(kMostOpenBegins))
      ->group(kAdvancedGroup);
}

void read_words(const MergeWords& words, MergeCommand& command) {
  command.merge.format = read_format(words.format, command.merge.output);
  command.merge.plan.pids = read_pids(words.pids);
  if (words.shared_ids) command.merge.plan.shared_flows = read_shared_ids(*words.shared_ids);
  command.merge.plan.clock.align_by = read_align_by(words.align_by);
  for (const std::string& offset : words.offsets) {
    const auto [rank, ns] = read_offset(offset);
    if (!command.merge.plan.clock.offsets.emplace(rank, ns).second)
      throw UsageError(fmt::format("--offset: rank {} is given more than once", rank));
  }
  command.merge.plan.clock.drift = read_drift(words.drift);
  read_origin(words.origin, command.merge.plan);
  command.merge.filter = read_filter(words.filter);
}

// Refuses names of formats that are not written: readers would fail to open such a file.
void refuse_other_packing(const std::string& output) {
  const std::string name = to_lower(output);
  for (const std::string_view ending : {".zst", ".zip", ".bz2", ".xz", ".lz4", ".7z"})
    if (name.ends_with(ending))
      throw UsageError(fmt::format(
          "-o {}: {} cannot be written; choose a name in .json or .json.gz", output, ending));
}

void check_options(const MergeCommand& command) {
  if (command.serving.is_wanted && !tool_team().is_alone())
    throw UsageError("--serve does not run with --mpi yet");
  if (command.serving.is_wanted && (command.merge.dry_run || command.merge.output == "-"))
    throw UsageError("--serve needs a merged file: leave out --dry-run and -o -");
  if (command.merge.output.empty() && !command.merge.dry_run && !command.serving.is_wanted)
    throw UsageError(
        "no output named; add -o merged.json (or -o - for stdout), see trace-merge --help");
  if (command.merge.dry_run && command.report == "-")
    throw UsageError("--dry-run writes its plan to stdout; name a file for --report");
  refuse_other_packing(command.merge.output);
  if (!command.merge.plan.shared_flows.empty() && command.merge.format != MergeFormat::json)
    throw UsageError(
        "--shared-ids: the ranks of a perfetto-tar are separate traces, which no arrow can join; "
        "choose a name in .json or .json.gz");
  if (command.merge.gzip_level < kMinGzipLevel || command.merge.gzip_level > kMaxGzipLevel)
    throw UsageError(fmt::format("--gzip-level: {} is not from {} to {}", command.merge.gzip_level,
                                 kMinGzipLevel, kMaxGzipLevel));
}

// Reports what was recovered before the inputs are read, since reading them may fail. Returns false
// if there is nothing to merge.
bool recover(MergeWords& words, MergeCommand& command) {
  if (command.merge.dry_run)
    throw UsageError("--recover completes traces, and --dry-run writes nothing; leave one out");
  RecoveredInputs recovered = recover_inputs(words.inputs);
  for (const std::string& line : recovered.notes) say("trace-merge", Tone::note, line);
  for (const std::string& problem : recovered.problems) say("trace-merge", Tone::warning, problem);
  command.kept_journals = std::move(recovered.kept);
  if (recovered.has_nothing)
    say("trace-merge", Tone::note,
        fmt::format("--recover: there is no trace to merge, so {} is not written",
                    command.merge.output));
  words.inputs = std::move(recovered.arguments);
  return !recovered.has_nothing;
}

}  // namespace

bool read_command_line(int argc, const char* const* argv, MergeCommand& command) {
  CLI::App app(
      "Merges the Chrome JSON traces of many ranks into one trace on one clock\n"
      "For ui.perfetto.dev and chrome://tracing. Takes files of Composer, torch.profiler and other "
      "producers, plain or gzip, whole or cut off.");
  set_up(app, "trace-merge");
  MergeWords words;
  add_inputs(app, words.inputs);
  add_output_options(app, command);
  add_filter_options(app, words.filter);
  add_run_options(app, command, words);
  add_clock_options(app, words);
  add_row_options(app, words);
  add_limits(app, command, words);
  set_examples(
      app,
      {{"all ranks of a run in one trace", "trace-merge traces/ -o merged.json.gz"},
       {"files that do not say their rank", "trace-merge 0=a.json 1=b.json -o ab.json"},
       {"three steps of two ranks", "trace-merge traces/ --ranks 0,7 --steps 10:12 -o some.json"}});
  set_page(app, "docs/commands/trace-merge.md");
  if (!parse(app, argc, argv)) return false;
  check_serving(command.serving, app.count("--port") > 0);
  if (app.count("--max-memory") > 0) command.merge.max_memory = words.max_memory;
  read_words(words, command);
  check_options(command);
  if (words.recover && !tool_team().is_alone())
    throw UsageError("--recover does not run with --mpi yet");
  if (words.recover && !recover(words, command)) return false;
  command.merge.inputs = find_inputs(kTool, words.inputs, command.merge.keep_going);
  if (is_input(command.merge.inputs, command.report))
    throw UsageError(
        fmt::format("the report {} is also an input; name another file", command.report));
  if (!command.report.empty() && is_same_path(command.report, command.merge.output))
    throw UsageError(
        fmt::format("the report {} is also the output; name another file", command.report));
  return true;
}

}  // namespace traceloom
