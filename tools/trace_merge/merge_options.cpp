#include "trace_merge/merge_options.h"

#include "base/ascii.h"
#include "base/problems.h"
#include "base/units.h"
#include "common/command_line.h"
#include "common/command_spec.h"
#include "common/option_values.h"
#include "common/run_tool.h"
#include "input/input_list.h"
#include "output/sink.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

constexpr char kGroup[] = "What to keep";
constexpr std::size_t kMostNamed = 12;

void add_list(CLI::App& app, const std::string& name, std::vector<std::string>& values,
              const std::string& type, const std::string& help) {
  app.add_option(name, values, help)
      ->type_name(type)
      ->group(kGroup)
      ->allow_extra_args(false)
      ->take_all();
}

std::int64_t read_min_duration(const std::string& text) {
  if (text.empty()) return 0;
  const std::optional<std::int64_t> ns = parse_duration(text);
  if (!ns || *ns < 0)
    throw UsageError(fmt::format("--min-duration: '{}' is not a time (try 5us or 1.5ms)", text));
  return *ns;
}

std::vector<std::string> read_category_lists(const std::string& option,
                                             const std::vector<std::string>& lists) {
  std::vector<std::string> categories;
  for (const std::string& list : lists)
    for (std::string& category : read_categories(option, list))
      categories.push_back(std::move(category));
  return categories;
}

std::vector<NamePattern> read_patterns(const std::string& option,
                                       const std::vector<std::string>& expressions) {
  std::vector<NamePattern> patterns;
  patterns.reserve(expressions.size());
  for (const std::string& expression : expressions)
    patterns.push_back(read_pattern(option, expression));
  return patterns;
}

// Returns the categories of all events. A list of categories ("cpu_op,user") counts as several.
std::vector<std::string> known_categories(const FilterOutcome& outcome) {
  std::set<std::string> known;
  for (const std::string& list : outcome.categories)
    for (std::string& category : split_words(list)) known.insert(std::move(category));
  known.erase("");
  return {known.begin(), known.end()};
}

void add_unmet_categories(std::vector<std::string>& unmet, const std::vector<std::string>& known,
                          const std::string& option, const std::vector<std::string>& wanted) {
  for (const std::string& category : wanted) {
    if (std::binary_search(known.begin(), known.end(), category)) continue;
    const std::string advice = did_you_mean(category, known);
    const std::size_t named = std::min(known.size(), kMostNamed);
    const std::vector<std::string> some(known.begin(),
                                        known.begin() + static_cast<std::ptrdiff_t>(named));
    unmet.push_back(fmt::format("{}: no event has category '{}'{}", option, category,
                                !advice.empty() || known.empty()
                                    ? advice
                                    : fmt::format(" (there are {}{})", fmt::join(some, ", "),
                                                  named < known.size() ? ", ..." : "")));
  }
}

// "there are ranks 0 to 3".
std::string numbers(const std::string& what, const NumberRange& range) {
  return range.first == range.last
             ? fmt::format("there is {} {}", what, range.first)
             : fmt::format("there are {}s {} to {}", what, range.first, range.last);
}

void add_unmet_ranks(std::vector<std::string>& unmet, const std::vector<NumberRange>& wanted,
                     const std::vector<std::int64_t>& ranks) {
  for (const NumberRange& range : wanted) {
    if (std::any_of(ranks.begin(), ranks.end(),
                    [&](std::int64_t rank) { return is_in({range}, rank); }))
      continue;
    const std::string name = range.first == range.last
                                 ? fmt::format("rank {}", range.first)
                                 : fmt::format("ranks {} to {}", range.first, range.last);
    unmet.push_back(fmt::format("--ranks: no input belongs to {} ({})", name,
                                numbers("rank", {ranks.front(), ranks.back()})));
  }
}

}  // namespace

void add_filter_options(CLI::App& app, FilterOptions& options) {
  app.add_option("--ranks", options.ranks,
                 "Keep only these ranks: 0,4-7\n"
                 "The clocks of all ranks are used to align these.")
      ->type_name("LIST")
      ->group(kGroup);
  app.add_option("--time", options.time,
                 "Keep events that begin in this time: 1.5s:2s, :1s\n"
                 "Times count from the first event of the whole merge. Either end may be left out.")
      ->type_name("FROM:TO")
      ->group(kGroup);
  app.add_option("--steps", options.steps,
                 "Keep events that begin in these steps: 3:5, 3\n"
                 "Both ends are included, and either may be left out. Steps are ProfilerStep#N of "
                 "torch, else batches of Composer, of the event's own rank.")
      ->type_name("FIRST:LAST")
      ->group(kGroup);
  add_list(app, "--category", options.categories, "LIST",
           "Keep events of these categories\n"
           "'(none)' stands for events without one. May be repeated.");
  add_list(app, "--exclude-category", options.excluded_categories, "LIST",
           "Drop events of these categories\nMay be repeated.");
  add_list(app, "--name", options.names, "REGEX",
           "Keep events whose name contains a match\n"
           "May be repeated: a match of any of them is enough.");
  add_list(app, "--exclude-name", options.excluded_names, "REGEX",
           "Drop events whose name contains a match\nMay be repeated.");
  app.add_option("--min-duration", options.min_duration,
                 "Drop slices that are shorter: 5us\nEvents that are no slices are kept.")
      ->type_name("TIME")
      ->group(kGroup);
}

MergeFilter read_filter(const FilterOptions& options) {
  MergeFilter filter;
  filter.ranks = read_ranks("--ranks", options.ranks);
  filter.time = read_time("--time", options.time);
  filter.steps = read_steps("--steps", options.steps);
  filter.labels.categories = read_category_lists("--category", options.categories);
  filter.labels.excluded_categories =
      read_category_lists("--exclude-category", options.excluded_categories);
  filter.labels.names = read_patterns("--name", options.names);
  filter.labels.excluded_names = read_patterns("--exclude-name", options.excluded_names);
  filter.min_duration_ns = read_min_duration(options.min_duration);
  return filter;
}

std::vector<std::string> unmet_wishes(const MergeFilter& filter, const FilterOutcome& outcome) {
  std::vector<std::string> unmet;
  if (!outcome.ranks.empty()) add_unmet_ranks(unmet, filter.ranks, outcome.ranks);
  const std::vector<std::string> known = known_categories(outcome);
  add_unmet_categories(unmet, known, "--category", filter.labels.categories);
  add_unmet_categories(unmet, known, "--exclude-category", filter.labels.excluded_categories);
  return unmet;
}

std::string explain_nothing_left(const MergeFilter& filter, const MergeSummary& summary) {
  std::vector<std::string> reasons = unmet_wishes(filter, *summary.filter);
  if (filter.time && filter.time->from_ns && *filter.time->from_ns > summary.filter->last_ns)
    reasons.push_back(fmt::format("--time: the last event begins at {}",
                                  format_duration(summary.filter->last_ns)));
  const std::optional<NumberRange>& steps = summary.filter->steps;
  if (filter.steps && steps &&
      ((filter.steps->first && *filter.steps->first > steps->last) ||
       (filter.steps->last && *filter.steps->last < steps->first)))
    reasons.push_back(fmt::format("--steps: {}", numbers("step", *steps)));
  return fmt::format(
      "none of {} events is kept, so nothing is written; {}", format_count(summary.filtered),
      reasons.empty() ? "relax one of the filters" : fmt::format("{}", fmt::join(reasons, "; ")));
}

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

MergeFormat read_format(const std::string& name, const std::string& output) {
  if (name.empty()) return format_of_name(output);
  return read_choice<MergeFormat>(
      "--format", name, {{"json", MergeFormat::json}, {"perfetto-tar", MergeFormat::perfetto_tar}});
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
  const auto origin_ns = whole_number<std::int64_t>(text);
  if (!origin_ns)
    throw UsageError(
        fmt::format("--origin: '{}' is not min, keep or a Unix time in nanoseconds", text));
  plan.origin_ns = *origin_ns;
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
  app.add_option(
         "--level", command.merge.level,
         fmt::format("Compress from {} (fast) to {}; {} for .gz, {} for .zst", kMinLevel, kMaxLevel,
                     level_or_default(0, Packing::gzip), level_or_default(0, Packing::zstd)))
      ->group(group)
      ->type_name("N");
  app.add_option("--gzip-level", command.merge.level)->group("");  // its earlier name
  app.add_flag("--sort", command.merge.plan.sort_by_time,
               "Write all events in time order\n"
               "Needs twice the output's size on its disk while it works.")
      ->group(group);
  app.add_flag("--critical-path", command.critical_path,
               "Add a row: what steps wait for\n"
               "It is the longest way through the steps, across ranks, from piece to piece; see "
               "trace-stats what-if.")
      ->group(kAdvancedGroup);
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

void add_run_options(CLI::App& app, CLI::Option& inputs, MergeCommand& command, MergeWords& words) {
  const auto take_recover = [&] {
    words.recover = true;
    inputs.required(false);
  };
  app.add_flag_callback(
         "--recover", take_recover,
         "First complete traces of killed processes\n"
         "Completes them from the recorder's journals in the given folders (without one: in "
         "/dev/shm, of traces below this folder), then deletes these. Recovered traces are "
         "merged even if not named as inputs; without -o nothing is merged. Journals of other "
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
  command.merge.plan.pids = read_choice<PidLayout>(
      "--pids", words.pids, {{"rank", PidLayout::rank}, {"split", PidLayout::split}});
  if (words.shared_ids) command.merge.plan.shared_flows = read_shared_ids(*words.shared_ids);
  command.merge.plan.clock.align_by = read_choice<AlignBy>("--align", words.align_by,
                                                           {{"auto", AlignBy::any},
                                                            {"sync", AlignBy::sync},
                                                            {"base", AlignBy::base},
                                                            {"none", AlignBy::none}});
  for (const std::string& offset : words.offsets) {
    const auto [rank, ns] = read_offset(offset);
    if (!command.merge.plan.clock.offsets.emplace(rank, ns).second)
      throw UsageError(fmt::format("--offset: rank {} is given more than once", rank));
  }
  command.merge.plan.clock.drift = read_choice<DriftMode>(
      "--drift", words.drift, {{"constant", DriftMode::constant}, {"linear", DriftMode::linear}});
  read_origin(words.origin, command.merge.plan);
  command.merge.filter = read_filter(words.filter);
}

// Refuses names of formats that are not written: readers would fail to open such a file.
void refuse_other_packing(const std::string& output) {
  const std::string name = to_lower(output);
  for (const std::string_view ending : {".zip", ".bz2", ".xz", ".lz4", ".7z", ".zstd", ".tzst"})
    if (name.ends_with(ending))
      throw UsageError(
          fmt::format("-o {}: {} cannot be written; choose a name in .json, .json.gz or .json.zst",
                      output, ending));
}

void check_level(const CLI::App& app, int level) {
  const bool is_given = app.count("--level") + app.count("--gzip-level") > 0;
  if (is_given && (level < kMinLevel || level > kMaxLevel))
    throw UsageError(fmt::format("--level: {} is not from {} to {}", level, kMinLevel, kMaxLevel));
}

void check_options(const MergeCommand& command, bool recovers_alone) {
  if (command.serving.is_wanted && !tool_team().is_alone())
    throw UsageError("--serve does not run with --mpi yet");
  if (command.serving.is_wanted && (command.merge.dry_run || command.merge.output == "-"))
    throw UsageError("--serve needs a merged file: leave out --dry-run and -o -");
  if (command.serving.is_wanted && packing_of_name(command.merge.output) == Packing::zstd)
    throw UsageError("--serve: viewers open no .zst; choose a name in .json or .json.gz");
  if (command.merge.output.empty() && !command.merge.dry_run && !command.serving.is_wanted &&
      !recovers_alone)
    throw UsageError(
        "no output named; add -o merged.json (or -o - for stdout), see trace-merge --help");
  if (command.merge.dry_run && command.report == "-")
    throw UsageError("--dry-run writes its plan to stdout; name a file for --report");
  refuse_other_packing(command.merge.output);
  if (!command.merge.plan.shared_flows.empty() && command.merge.format != MergeFormat::json)
    throw UsageError(
        "--shared-ids: the ranks of a perfetto-tar are separate traces, which no arrow can join; "
        "choose a name in .json or .json.gz");
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
  if (recovered.has_nothing && !command.merge.output.empty())
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
      "producers, plain, gzip or zstd, whole or cut off.");
  set_up(app, "trace-merge");
  MergeWords words;
  CLI::Option& inputs = *add_inputs(app, words.inputs);
  add_output_options(app, command);
  add_filter_options(app, words.filter);
  add_run_options(app, inputs, command, words);
  add_clock_options(app, words);
  add_row_options(app, words);
  add_limits(app, command, words);
  set_examples(app,
               {{"all ranks of a run in one trace", "trace-merge traces/ -o merged.json.gz"},
                {"files that do not say their rank", "trace-merge 0=a.json 1=b.json -o ab.json"}});
  set_page(app, "docs/commands/trace-merge.md");
  if (!parse(app, argc, argv)) return false;
  check_serving(command.serving, app.count("--port") > 0);
  if (app.count("--max-memory") > 0) command.merge.max_memory = words.max_memory;
  read_words(words, command);
  check_level(app, command.merge.level);
  const bool recovers_alone = words.recover && command.merge.output.empty() &&
                              command.report.empty() && !command.serving.is_wanted;
  check_options(command, recovers_alone);
  if (words.recover && !tool_team().is_alone())
    throw UsageError("--recover does not run with --mpi yet");
  if (words.recover && words.inputs.empty()) words.inputs = {"/dev/shm", "."};
  if (words.recover && (!recover(words, command) || recovers_alone)) return false;
  command.merge.inputs =
      find_inputs(kTool, words.inputs, command.merge.keep_going, &command.memory,
                  [](const OtherFile& file) { return file.kind == FileKind::pickle; });
  if (is_input(command.merge.inputs, command.report))
    throw UsageError(
        fmt::format("the report {} is also an input; name another file", command.report));
  if (!command.report.empty() && is_same_path(command.report, command.merge.output))
    throw UsageError(
        fmt::format("the report {} is also the output; name another file", command.report));
  return true;
}

}  // namespace traceloom
