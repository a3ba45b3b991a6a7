#include "trace_record/commands.h"

#include "base/problems.h"
#include "base/units.h"
#include "common/command_line.h"
#include "common/command_spec.h"
#include "common/terminal.h"
#include "output/sink.h"
#include "record/files/trace_file.h"
#include "record/names/trace_folder.h"
#include "record/recorder.h"
#include "trace_record/command.h"
#include "trace_record/demo_team.h"
#include "trace_record/demo_training.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utility>

namespace traceloom {
namespace {

constexpr std::string_view kSpeaker = "trace-record";
// The default name if a launcher says a rank: the ranks of a node have one folder.
constexpr char kNameOfRank[] = "host-node{node_rank}-rank{rank}.json";

std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void say(const std::string& text) {
  traceloom::say(kSpeaker, Tone::note, text);
}

// The inode and the time of the file at a path; an inode of 0 if there is none.
using FileAtPath = std::pair<std::uint64_t, std::filesystem::file_time_type>;

FileAtPath file_at(const std::filesystem::path& path) {
  std::error_code ignored;
  return {record::inode_of(path), std::filesystem::last_write_time(path, ignored)};
}

// The names of the trace during the recording and afterwards. The first is hidden, since the folder
// usually is that of the ranks' traces, and their recorders refuse a folder with other files in it.
struct HostTrace {
  record::Options session;
  std::filesystem::path path;
  FileAtPath before = {};  // what it may replace
};

HostTrace plan_trace(const RunOptions& options) {
  record::RunPlace place;
  place.rank = options.rank;
  place = record::find_place(place);
  const record::RunIdentity run{record::default_run_name(), place};
  record::TraceNames names = names_of(options.trace);
  const bool is_launched = record::known_place({}).rank != record::kFromEnvironment;
  if (is_launched && names.file == RunOptions().trace.file_name) names.file = kNameOfRank;
  HostTrace trace;
  trace.session.rank = place.rank;
  trace.session.local_rank = place.local_rank;
  trace.session.node_rank = place.node_rank;
  trace.session.is_beside_rank = true;
  trace.session.folder = record::folder_of(names, run);
  const std::string name = record::NameTemplate(names.file).expand(run, record::Position());
  trace.path = std::filesystem::path(trace.session.folder) / name;
  const std::filesystem::path hidden =
      std::filesystem::path(name).replace_filename("." + trace.path.filename().string());
  trace.session.file_name = [hidden](const record::Position&) { return hidden.string(); };
  if (!options.trace.overwrite && std::filesystem::exists(trace.path))
    throw Error(trace.path.string(),
                "exists already: choose another -o or --file-name, or add --overwrite");
  trace.before = file_at(trace.path);
  trace.session.log = [](const std::string& line) { say(line); };
  return trace;
}

void mark(const std::string& what) {
  record::Marker::of(what, "trace-record").instant();
}

std::string end_of(const Command& command) {
  return command.signal() != 0 ? fmt::format("ended by signal {}", command.signal())
                               : fmt::format("exit code {}", command.exit_code());
}

// Takes samples until the command has ended.
void watch(Command& command, const BlockedSignals& signals, CommandSamples& samples) {
  samples.take();
  while (true) {
    if (const std::optional<siginfo_t> signal = signals.wait(samples.ns_to_next())) {
      command.reap();
      if (command.has_ended()) return;
      command.forward(*signal);
    } else {
      samples.take();
    }
  }
}

void report_command(const RunOptions& options, const Command& command,
                    const CommandSamples& samples, std::int64_t took_ns) {
  for (const std::string& path : samples.missing())
    say(fmt::format("{} cannot be read; the trace lacks its values", path));
  const double cpus =
      took_ns > 0 ? static_cast<double>(command.cpu_ns()) / static_cast<double>(took_ns) : 0;
  say(fmt::format("{}: {} in {}, {} of CPU ({:.2f} CPUs), at most {} of memory", options.words[0],
                  end_of(command), format_duration(took_ns), format_duration(command.cpu_ns()),
                  cpus, format_bytes(std::max(samples.peak_bytes(), command.peak_bytes()))));
}

// Gives the trace its name. A problem here is only reported, since the command has done its work.
void finish(record::Session& session, const HostTrace& trace) {
  if (!session.is_open()) return;  // it has said why
  session.close();
  for (const record::SavedTrace& saved : session.saved_traces()) {
    try {
      const bool is_as_before = trace.before.first != 0 && file_at(trace.path) == trace.before;
      const std::string name = record::give_last_name(saved.path, trace.path, is_as_before);
      if (name != trace.path)
        say(fmt::format("{} was made meanwhile and stays", trace.path.string()));
      say(fmt::format("{}: {} events", name, format_count(saved.events)));
    } catch (const Error& error) {
      say(fmt::format("warning: {}", error.what()));
    }
  }
  if (const std::string problem = session.status().last_error; !problem.empty())
    say(fmt::format("warning: {}", problem));
}

// Removes the trace of a command that could not be started.
void discard(record::Session& session) {
  session.close();
  std::error_code ignored;
  for (const record::SavedTrace& trace : session.saved_traces())
    std::filesystem::remove(trace.path, ignored);
}

// Ends this process by the signal that ended the command, for parents that examine the signal.
void die_of(int signal) {
  const rlimit no_core{0, 0};  // the core file of the command is enough
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL);
  std::fflush(nullptr);
  kill(getpid(), signal);
}

Command start_command(const RunOptions& options, const BlockedSignals& signals,
                      record::Session& session) {
  try {
    return Command(options.words, signals);
  } catch (const StartError&) {
    discard(session);
    throw;
  }
}

Command record_command(const RunOptions& options) {
  const BlockedSignals signals;
  // Processes that the command leaves behind become children of this one, and stay in its tree.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  record::set_thread_name("trace-record");
  const HostTrace trace = plan_trace(options);
  record::Session session = record::Session::open(trace.session);
  CommandSamples samples(options.trace.interval_ns);
  const std::int64_t start_ns = now_ns();
  Command command = start_command(options, signals, session);
  mark(fmt::format("started: {}", fmt::join(options.words, " ")));
  watch(command, signals, samples);
  const std::int64_t took_ns = now_ns() - start_ns;
  samples.take();
  mark(fmt::format("ended: {}", end_of(command)));
  report_command(options, command, samples, took_ns);
  finish(session, trace);
  return command;
}

}  // namespace

ExitCode run_command(const RunOptions& options) {
  try {
    const Command command = record_command(options);
    if (command.signal() != 0) die_of(command.signal());
    return static_cast<ExitCode>(command.exit_code());
  } catch (const StartError& error) {
    say(fmt::format("{}; nothing was run", error.what()));
    return static_cast<ExitCode>(error.exit_code());
  }
}

namespace {

constexpr char kTrainingGroup[] = "Training";
constexpr char kTroubleGroup[] = "Trouble to look for";
constexpr char kScheduleGroup[] = "Schedule";
constexpr std::int64_t kManyBatches = 1'000'000;
constexpr std::int64_t kSlowLoaderNs = 20'000'000;
// The exit code of a rank that has trained to the end, but has lost a part of its traces.
constexpr int kTrainedWithLosses = 10;

void add_training_options(CLI::App& app, DemoOptions& options) {
  add_number(app, "--ranks", options.ranks, 1, 64, "Train with N processes", kTrainingGroup);
  add_number(app, "--epochs", options.epochs, 1, 10'000, "Train N epochs", kTrainingGroup);
  add_number(app, "--batches", options.batches, 1, kManyBatches,
             "Train N batches an epoch, on each rank", kTrainingGroup);
  add_number(app, "--batch-size", options.batch_size, 1, 65'536,
             "Put N pictures into a batch\n128 pictures take some 5 ms.", kTrainingGroup);
  add_number(app, "--seed", options.seed, 0, kManyBatches * kManyBatches,
             "Seed of the pictures and weights\nEqual seeds print equal losses.", kTrainingGroup);
  app.add_flag("--memory-stats", options.memory_stats,
               "Also write rank_R_memory_stats.yaml\n"
               "These files hold the memory of each rank at the begin and end of each step.")
      ->group(kTrainingGroup);
}

void add_trouble_options(CLI::App& app, DemoOptions& options) {
  // With a value or without one.
  const auto take_delay = [&options](const CLI::results_t& results) {
    options.slow_loader_ns = kSlowLoaderNs;
    if (results.empty() || results.back().empty() || results.back() == "true") return true;
    const std::optional<std::int64_t> ns = parse_duration(results.back());
    if (!ns || *ns < 0)
      throw UsageError(fmt::format("--slow-loader: '{}' is not a time (try 20ms)", results.back()));
    options.slow_loader_ns = *ns;
    return true;
  };
  app.add_option("--slow-loader", take_delay,
                 "Read each batch as from a slow disk [20ms]\n"
                 "TIME is added to each batch.")
      ->expected(0, 1)
      ->type_name("TIME")
      ->group(kTroubleGroup);
  add_number(app, "--straggler", options.straggler, 0, 63,
             "Make this rank slower than the others\n"
             "It computes longer, as on a core that it shares, so that the others wait for it.",
             kTroubleGroup)
      ->type_name("RANK");
  add_duration(app, "--straggler-delay", options.straggler_delay_ns,
               "Make its steps longer by TIME")
      ->default_str("50ms")
      ->group(kTroubleGroup);
  add_duration(
      app, "--clock-skew", options.clock_skew_ns,
      "Set the clock of rank R ahead by R times TIME\n"
      "The ranks then look as if they ran on different machines. A merge corrects that with "
      "the clock syncs.")
      ->group(kTroubleGroup);
  add_number(app, "--clock-drift", options.clock_drift_ppm, -100'000, 100'000,
             "Let the clock of rank R gain R times N ppm", kTroubleGroup);
}

void add_schedule_options(CLI::App& app, DemoOptions& options) {
  record::CyclicSchedule& schedule = options.schedule;
  add_number(app, "--skip-first", schedule.skip_first, 0, kManyBatches,
             "Skip N batches of each epoch", kScheduleGroup);
  add_number(app, "--wait", schedule.wait, 0, kManyBatches, "Then skip N batches of each cycle",
             kScheduleGroup);
  add_number(app, "--warmup", schedule.warmup, 0, kManyBatches, "Then warm up for N batches",
             kScheduleGroup);
  add_number(app, "--active", schedule.active, 0, kManyBatches,
             "Then record and save N batches [default: all]", kScheduleGroup)
      ->default_str("");
  add_number(app, "--repeat", schedule.repeat, 0, kManyBatches,
             "Run N cycles an epoch; 0: no limit", kScheduleGroup);
  add_number(app, "--keep", options.keep, -1, kManyBatches,
             "Keep the newest N traces a rank; -1: all", kScheduleGroup);
  // With a value or without one.
  const auto take_folder = [&options](const CLI::results_t& results) {
    options.merges = true;
    if (!results.empty() && results.back() != "true") options.merge_folder = results.back();
    return true;
  };
  app.add_option(
         "--merge-per-node", take_folder,
         "Also merge all ranks while they train\n"
         "Each cycle is appended to the merge, which is written to DIR, or to the folder of the "
         "traces.")
      ->expected(0, 1)
      ->group(kScheduleGroup)
      ->type_name("DIR");
  app.add_option("--merged-name", options.merged_name,
                 "Name of the merge\n"
                 "If it contains {epoch} or {batch}, each cycle becomes a trace of its own.")
      ->capture_default_str()
      ->group(kScheduleGroup)
      ->type_name("NAME");
}

void check(const DemoOptions& options) {
  if (options.straggler >= options.ranks)
    throw UsageError(fmt::format("--straggler: there is no rank {}; the ranks are 0 to {}",
                                 options.straggler, options.ranks - 1));
  if (options.straggler_delay_ns < 0)
    throw UsageError("--straggler-delay: the time must not be negative (try 50ms)");
  try {
    record::cyclic_schedule(options.schedule);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  const bool is_skewed = options.clock_skew_ns != 0 || options.clock_drift_ppm != 0;
  if (is_skewed && packing_of_name(options.trace.file_name) != Packing::none)
    throw UsageError(
        "--clock-skew and --clock-drift change traces that are plain text; "
        "choose a --file-name without .gz or .zst");
}

void check_merge(const DemoOptions& options) {
  if (!options.merges) return;
  const std::string folder = demo_session_options(options, 0).folder;
  for (std::int64_t rank = 1; rank < options.ranks; ++rank)
    if (demo_session_options(options, rank).folder != folder)
      throw UsageError(
          "--merge-per-node needs the traces of all ranks in one folder; leave {rank} and "
          "{local_rank} out of -o");
  try {
    check_node_merge(demo_merge_options(options), demo_session_options(options, 0));
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--merged-name: {}", error.what()));
  }
}

// Prepares the folder for all ranks, so that a later rank does not refuse the traces of the first.
void prepare(const DemoOptions& options) {
  record::TraceNames names = names_of(options.trace);
  if (options.merges && options.merge_folder.empty()) names.merged = options.merged_name;
  for (std::int64_t rank = 0; rank < options.ranks; ++rank) {
    const record::RunIdentity run{record::default_run_name(),
                                  {.rank = rank,
                                   .local_rank = rank,
                                   .world_size = options.ranks,
                                   .local_world_size = options.ranks,
                                   .node_rank = 0}};
    try {
      record::prepare_folder(
          names, run,
          options.trace.overwrite ? record::OverwriteTraces::yes : record::OverwriteTraces::no);
    } catch (const Error& error) {
      throw with_advice(error, "-o names a folder, --overwrite allows it");
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("--file-name: {}", error.what()));
    }
  }
}

// Never returns, so that a child does not run the destructors of its parent.
[[noreturn]] void be_rank(const DemoOptions& options, std::int64_t rank, DemoTeam& team,
                          pid_t parent) {
  // A rank whose parent has died would wait at a barrier for ever.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(static_cast<int>(ExitCode::trouble));
  int code = 0;
  try {
    if (!train_demo_rank(options, rank, team)) code = kTrainedWithLosses;
  } catch (const std::exception& error) {
    say("trace-record", Tone::note, fmt::format("rank {}: {}", rank, error.what()));
    code = static_cast<int>(ExitCode::trouble);
  }
  std::fflush(nullptr);
  _exit(code);
}

// Returns whether all ranks ended well. If one fails, the others are killed, since they wait for
// it.
bool wait_for_ranks(std::map<pid_t, std::int64_t> ranks) {
  bool is_well = true;
  bool is_given_up = false;
  while (!ranks.empty()) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) return false;
    const auto rank = ranks.extract(ended);
    is_well &= status == 0;
    const bool is_at_end =
        WIFEXITED(status) && (status == 0 || WEXITSTATUS(status) == kTrainedWithLosses);
    if (is_at_end || is_given_up) continue;
    is_given_up = true;
    if (WIFSIGNALED(status))
      say("trace-record", Tone::note,
          fmt::format(
              "rank {} was ended by signal {}; the other ranks wait for it and are stopped, too",
              rank.mapped(), WTERMSIG(status)));
    for (const auto& [pid, number] : ranks) kill(pid, SIGKILL);
  }
  return is_well;
}

// Returns why no rank will have a trace in the end; "" if each will have one.
std::string why_no_traces(const DemoOptions& options) {
  if (options.keep == 0) return "--keep 0 deletes each as soon as it is saved";
  record::Position at;  // all epochs are alike
  for (; at.batch_in_epoch < static_cast<std::uint64_t>(options.batches); ++at.batch_in_epoch)
    if (record::action_at(options.schedule, at) != record::Action::skip) return "";
  return fmt::format(
      "the schedule skips all of the {} batches of an epoch (--skip-first {}, --wait {})",
      options.batches, options.schedule.skip_first, options.schedule.wait);
}

void print_merged_path(const DemoOptions& options) {
  if (!options.merges) return;
  const std::string folder =
      one_line(options.merge_folder.empty() ? options.trace.folder : options.merge_folder);
  fmt::print("Merged meanwhile:    {}/{}\n", folder,
             record::NameTemplate(options.merged_name)
                 .expand({record::default_run_name(),
                          {.rank = 0,
                           .local_rank = 0,
                           .world_size = options.ranks,
                           .local_world_size = options.ranks,
                           .node_rank = 0}}));
}

void print_results(const DemoOptions& options) {
  const std::string folder = one_line(options.trace.folder);
  if (const std::string reason = why_no_traces(options); !reason.empty()) {
    fmt::print("No trace is left: {}\n", reason);
    if (options.keep == 0) print_merged_path(options);
    return;
  }
  fmt::print(
      "Traces of {} ranks: {}\n"
      "One trace of them:   trace-merge {} -o merged.json\n"
      "What limits the run: trace-stats bottleneck {}\n",
      options.ranks, folder, folder, folder);
  print_merged_path(options);
}

}  // namespace

void add_demo(CLI::App& app, DemoOptions& options) {
  CLI::App* const demo = app.add_subcommand(
      "demo",
      "Trains a small model on several ranks and records it\n"
      "Each rank is a process that decodes pictures, computes gradients of a perceptron, and "
      "averages them with the others in shared memory. The traces hold event/dataloader, "
      "event/batch, event/forward, event/backward and shm:all_reduce of each step, and counters of "
      "CPU and memory.");
  add_training_options(*demo, options);
  add_trouble_options(*demo, options);
  add_schedule_options(*demo, options);
  add_trace_options(*demo, options.trace);
  set_examples(*demo, {{"four ranks, whose traces go to demo-traces/", "trace-record demo"},
                       {"a rank that delays the others", "trace-record demo --straggler 2"}});
  set_page(*demo, "docs/commands/trace-record.md");
}

ExitCode run_demo(DemoOptions options) {
  check(options);
  check_merge(options);
  prepare(options);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  options.started_ns = std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
  DemoTeam team(static_cast<std::size_t>(options.ranks), demo_gradient_count());
  std::fflush(nullptr);  // else each child prints it again
  std::map<pid_t, std::int64_t> ranks;
  for (std::int64_t rank = 0; rank < options.ranks; ++rank) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) be_rank(options, rank, team, parent);
    if (child < 0) {
      const int error = errno;
      for (const auto& [started, number] : ranks) kill(started, SIGKILL);
      throw system_error(fmt::format("process of rank {}", rank), error);
    }
    ranks.emplace(child, rank);
  }
  if (!wait_for_ranks(std::move(ranks))) return ExitCode::trouble;
  print_results(options);
  return ExitCode::done;
}

}  // namespace traceloom
