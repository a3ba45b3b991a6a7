#include "trace_record/run_command.h"

#include "base/error.h"
#include "base/units.h"
#include "common/say.h"
#include "record/recorder.h"
#include "trace_record/command.h"
#include "trace_record/command_samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace traceloom {
namespace {

constexpr std::string_view kSpeaker = "trace-record";

std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void say(const std::string& text) {
  traceloom::say(kSpeaker, Tone::note, text);
}

// The names of the trace during the recording and afterwards. The first is hidden, since the folder
// usually is that of the ranks' traces, and their recorders refuse a folder with other files in it.
struct HostTrace {
  record::Options session;
  std::filesystem::path path;
};

HostTrace plan_trace(const RunOptions& options) {
  record::RunPlace place;
  place.rank = options.rank;
  place = record::find_place(place);
  const record::RunIdentity run{record::default_run_name(), place};
  const record::TraceNames names = names_of(options.trace);
  HostTrace trace;
  trace.session.rank = place.rank;
  trace.session.local_rank = place.local_rank;
  trace.session.node_rank = place.node_rank;
  trace.session.is_beside_rank = true;
  trace.session.folder = record::folder_of(names, run);
  const std::string name = record::file_namer(names, run)(record::Position());
  trace.path = std::filesystem::path(trace.session.folder) / name;
  const std::filesystem::path hidden =
      std::filesystem::path(name).replace_filename("." + trace.path.filename().string());
  trace.session.file_name = [hidden](const record::Position&) { return hidden.string(); };
  if (!options.trace.overwrite && std::filesystem::exists(trace.path))
    throw Error(trace.path.string(),
                "exists already: choose another -o or --file-name, or add --overwrite");
  trace.session.overwrite = true;
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
void finish(record::Session& session, const std::filesystem::path& path) {
  session.close();
  std::error_code error;
  for (const record::SavedTrace& trace : session.saved_traces()) {
    std::filesystem::rename(trace.path, path, error);
    if (!error) say(fmt::format("{}: {} events", path.string(), format_count(trace.events)));
  }
  if (error) say(fmt::format("warning: {}: {}", path.string(), error.message()));
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
  record::Session session(trace.session);
  CommandSamples samples(options.trace.interval_ns);
  const std::int64_t start_ns = now_ns();
  Command command = start_command(options, signals, session);
  mark(fmt::format("started: {}", fmt::join(options.words, " ")));
  watch(command, signals, samples);
  const std::int64_t took_ns = now_ns() - start_ns;
  samples.take();
  mark(fmt::format("ended: {}", end_of(command)));
  report_command(options, command, samples, took_ns);
  finish(session, trace.path);
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

}  // namespace traceloom
