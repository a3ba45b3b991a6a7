#include "common/run_tool.h"

#include "base/file_system.h"
#include "base/problems.h"
#include "common/command_spec.h"
#include "common/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <new>
#include <sched.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace traceloom {

PrivateFolder::PrivateFolder() {
  std::error_code error;
  constexpr std::string_view kPrivate = "traceloom-private-";
  for (std::filesystem::directory_iterator entry(temporary_folder(), error), end;
       !error && entry != end; entry.increment(error))
    if (entry->path().filename().native().starts_with(kPrivate))
      remove_if_abandoned(entry->path().native());
  do {
    if (lock_ >= 0) close(lock_);
    folder_ = fmt::format("{}/{}XXXXXX", temporary_folder(), kPrivate);
    if (mkdtemp(folder_.data()) == nullptr) throw system_error(folder_, errno);
    lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  } while (lock_ >= 0 && !lock_new(lock_));
  entries_.emplace_back(folder_);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
  if (lock_ >= 0) close(lock_);
}

std::string PrivateFolder::path(const std::string& name) {
  std::string path = folder_ + '/' + name;
  entries_.emplace_back(path);
  return path;
}

namespace {

using InterruptHook = void (*)() noexcept;

std::atomic<InterruptHook> interrupt_hook{nullptr};
static_assert(std::atomic<InterruptHook>::is_always_lock_free, "a signal handler reads it");

// SA_RESETHAND has restored the default action, so raising the signal again ends the process once
// the handler returns, and the parent sees a process that died of it.
void handle_signal(int signal) {
  if (const InterruptHook hook = interrupt_hook.load()) hook();
  raise(signal);
}

void install_handlers(InterruptHook hook) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // write() fails for a file above the limit
  interrupt_hook = hook;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction old {};
    sigaction(signal, nullptr, &old);
    if (old.sa_handler == SIG_IGN) continue;  // by nohup, or as a job in the background
    struct sigaction action {};
    action.sa_handler = handle_signal;
    action.sa_flags = SA_RESETHAND;
    sigaction(signal, &action, nullptr);
  }
}

// If the parent has closed a standard stream, the next file that the tool opens would get its
// number, and messages would be written into the trace. The replacement opened here still makes it
// an error to read such a stdin or to write such a stdout.
void occupy_closed_streams() {
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int stream = 0; stream <= STDERR_FILENO; ++stream)
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", kModes[stream] | O_CLOEXEC) < 0) return;
}

// Without this a tool could exit with 0 although a full disk lost its output. A closed pipe is no
// error, since nobody wants the rest.
void flush_stdout() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  if (errno == EPIPE) return;
  throw Error("stdout", errno == 0 ? "write error" : std::strerror(errno));
}

ExitCode fail(const Tool& tool, const std::string& problem) {
  say(tool.name, Tone::error, problem);
  return ExitCode::trouble;
}

ExitCode guard(const Tool& tool, const std::function<ExitCode()>& work) {
  try {
    const ExitCode code = work();
    flush_stdout();
    return code;
  } catch (const ClosedPipe&) {
    return ExitCode::done;
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(tool, error.path1().string() + ": " + error.code().message());
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe)
      return ExitCode::done;  // fmt::print() reports it so
    return fail(tool, error.what());
  } catch (const std::bad_alloc&) {
    return fail(tool, "out of memory");
  } catch (const std::exception& error) {  // the message of Error and UsageError is complete
    return fail(tool, error.what());
  }
}

}  // namespace

int run_tool(const Tool& tool, const std::function<ExitCode()>& work) {
  occupy_closed_streams();
  install_handlers(tool.on_interrupt);
  return static_cast<int>(guard(tool, work));
}

namespace {

constexpr char kLibrary[] = "libtraceloom_mpi.so";
constexpr char kSlurmTasks[] = "SLURM_STEP_NUM_TASKS";

Team& the_team() {
  static Team team;
  return team;
}

bool has_argument(int argc, char** argv, std::string_view wanted) {
  const auto is_wanted = [&](const char* argument) { return argument == wanted; };
  char** const end = std::find_if(argv + 1, argv + argc, [](const char* argument) {
    return std::string_view(argument) == "--";  // paths follow
  });
  return std::any_of(argv + 1, end, is_wanted);
}

// The library lies beside the folder of the tools, as the build and the packages put it; a site
// that built its own names it.
std::filesystem::path library_path() {
  if (const char* const named = std::getenv("TRACELOOM_MPI_LIBRARY")) return named;
  std::error_code none;
  const std::filesystem::path tool = std::filesystem::read_symlink("/proc/self/exe", none);
  return tool.parent_path().parent_path() / TRACELOOM_PLUGIN_FOLDER / kLibrary;
}

template <typename Function>
Function* find_function(void* library, const std::string& path, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr) throw Error(path, fmt::format("it has no function {}", name));
  return reinterpret_cast<Function*>(found);
}

std::unique_ptr<Transport> open_transport() {
  const std::string path = library_path().string();
  // Libraries of MPI open further ones that need its symbols.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    throw UsageError(fmt::format(
        "--mpi needs {}, which cannot be opened ({}); install the package traceloom-mpi, or build "
        "Traceloom where libopenmpi-dev or libmpich-dev is installed, or name the library in "
        "TRACELOOM_MPI_LIBRARY",
        kLibrary, dlerror()));
  const char* const version =
      find_function<TransportVersion>(library, path, kTransportVersionSymbol)();
  if (std::strcmp(version, TRACELOOM_VERSION) != 0)
    throw UsageError(fmt::format("--mpi: {} is of version {}, and this tool is of version {}", path,
                                 version, TRACELOOM_VERSION));
  return std::unique_ptr<Transport>(
      find_function<MakeTransport>(library, path, kMakeTransportSymbol)());
}

// The other processes do the same as process 0, so whatever they would print has been printed.
void be_silent() {
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing < 0) return;
  std::fflush(stdout);
  dup2(nothing, STDOUT_FILENO);
  close(nothing);
  say_nothing();
}

// The hook of the tool, and whether this process lets process 0 go first. A signal handler reads
// them.
std::atomic<void (*)() noexcept> tool_hook{nullptr};
std::atomic<bool> leaves_late{false};

// Open MPI sends SIGTERM to all processes and SIGKILL as soon as one of them has ended, although it
// means to wait for a second. So the others leave process 0 the time to remove its files.
void end_in_order() noexcept {
  if (void (*const hook)() noexcept = tool_hook.load()) hook();
  if (!leaves_late.load()) return;
  constexpr timespec kHeadStart{.tv_sec = 0, .tv_nsec = 300'000'000};
  nanosleep(&kHeadStart, nullptr);
}

// A launcher may bind a process to a single core.
void warn_of_bound_cores(const Tool& tool) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) >= cores) return;
  say(tool.name, Tone::warning,
      fmt::format("process 0 may use {} of the machine's {} cores: mpirun --bind-to none or srun "
                  "--cpu-bind=none gives it all of them",
                  CPU_COUNT(&usable), cores));
}

// Returns whether the tool only shows its help or version, whatever starts it. Behind other options
// the words may be values: -o -h.
bool asks_for_help(int argc, char** argv) {
  std::vector<std::string_view> words(argv + 1, argv + argc);
  std::erase(words, "--mpi");
  if (words.empty()) return true;
  const std::size_t at = !words[0].starts_with('-') && words.size() > 1 ? 1 : 0;
  return words[at] == "--help" || words[at] == "-h" || words[at] == "--version";
}

void join_team(const Tool& tool, int argc, char** argv) {
  if (asks_for_help(argc, argv)) return;
  const auto environment = [](const char* name) { return std::getenv(name); };
  const int processes = launched_processes(environment);
  if (!has_argument(argc, argv, "--mpi")) {
    if (processes == 1) return;
    throw UsageError(fmt::format(
        "this is one of {} processes that a launcher started, and each would do the same work; "
        "--mpi shares it among them, and TRACELOOM_ALONE=1 in the environment lets them run",
        processes));
  }
  // The library of a site may be for an MPI that needs no more than Slurm's own variables.
  if (std::getenv("TRACELOOM_MPI_LIBRARY") == nullptr && lacks_mpi(environment))
    throw UsageError(fmt::format(
        "srun started {} processes that know nothing of each other; srun --mpi=pmix joins those of "
        "Open MPI, which the package traceloom-mpi is for, and --mpi=pmi2 those of MPICH",
        processes));
  the_team() = Team(open_transport());
  // The launcher of another MPI starts processes that are each a team of one.
  if (processes > 1 && the_team().is_alone())
    throw UsageError(fmt::format(
        "a launcher started {} processes, but MPI did not join them; start them with mpirun of the "
        "MPI with which {} was built, or with the --mpi of srun that it needs",
        processes, library_path().string()));
  leaves_late = !the_team().is_first();
  assume_no_terminal();
  if (the_team().is_first())
    warn_of_bound_cores(tool);
  else
    be_silent();
}

}  // namespace

int launched_processes(const std::function<const char*(const char*)>& environment) {
  if (environment("TRACELOOM_ALONE") != nullptr) return 1;
  // Open MPI, MPICH's Hydra, Slurm's srun. A shell that one of them started alone may have started
  // several by another, so a 1 says nothing.
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", kSlurmTasks}) {
    const char* const value = environment(name);
    int count = 0;
    if (value != nullptr &&
        std::from_chars(value, value + std::strlen(value), count).ec == std::errc{} && count > 1)
      return count;
  }
  return 1;
}

bool lacks_mpi(const std::function<const char*(const char*)>& environment) {
  if (environment(kSlurmTasks) == nullptr || launched_processes(environment) == 1) return false;
  // srun and the launchers of Open MPI, MPICH and Cray's MPI set one of these where processes join.
  constexpr std::array kSigns{"SLURM_MPI_TYPE", "PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_SIZE",
                              "PALS_RANKID"};
  return std::none_of(kSigns.begin(), kSigns.end(),
                      [&](const char* name) { return environment(name) != nullptr; });
}

Team& tool_team() {
  return the_team();
}

int run_in_team(const Tool& tool, int argc, char** argv, const std::function<ExitCode()>& work) {
  std::string error;
  bool is_own = false;
  tool_hook = tool.on_interrupt;
  const int code = run_tool({.name = tool.name, .on_interrupt = end_in_order}, [&] {
    join_team(tool, argc, argv);
    try {
      return work();
    } catch (const TeamEnded& ended) {
      return static_cast<ExitCode>(ended.exit_code);
    } catch (const std::exception& failure) {
      error = dynamic_cast<const std::bad_alloc*>(&failure) != nullptr ? "out of memory"
                                                                       : failure.what();
      is_own = lacks_resources(failure);
      throw;
    }
  });
  if (is_own && !the_team().is_alone()) the_team().abort(error);
  return the_team().end(code, error);
}

void add_mpi(CLI::App& app) {
  app.add_flag_callback(
         "--mpi", [] {},
         "Share the work among processes of mpirun or srun\n"
         "The output is that of one process, byte for byte. See docs/scale.md.")
      ->group(kCommonGroup)
      ->disable_flag_override();  // join_team() knows no --mpi=1
}

}  // namespace traceloom
