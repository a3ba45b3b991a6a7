#include "common/run_tool.h"

#include "base/error.h"
#include "common/say.h"
#include "output/file_sink.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <system_error>
#include <unistd.h>

namespace traceloom {
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

}  // namespace traceloom
