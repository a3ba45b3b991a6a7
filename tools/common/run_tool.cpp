#include "common/run_tool.h"

#include "base/error.h"
#include "common/terminal.h"
#include "output/file_sink.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

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
  std::signal(SIGXFSZ, SIG_IGN);  // a file above the limit is an error of write()
  interrupt_hook = hook;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction old {};
    sigaction(signal, nullptr, &old);
    if (old.sa_handler == SIG_IGN) continue;  // nohup, or a shell's background job
    struct sigaction action {};
    action.sa_handler = handle_signal;
    action.sa_flags = SA_RESETHAND;
    sigaction(signal, &action, nullptr);
  }
}

// Without this a tool could say "done" with its output lost in a full disk.
void flush_stdout() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  if (errno == EPIPE) throw ClosedPipe();
  throw Error("stdout", errno == 0 ? "write error" : std::strerror(errno));
}

ExitCode fail(const Tool& tool, const std::string& problem) {
  std::fflush(stdout);
  const Paint paint(wants_colour(Stream::err));
  std::fputs(fmt::format("{} {}\n", paint.error(tool.name + ":"), problem).c_str(), stderr);
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
    if (error.code() == std::errc::broken_pipe) return ExitCode::done;  // how fmt::print() says it
    return fail(tool, error.what());
  } catch (const std::bad_alloc&) {
    return fail(tool, "out of memory");
  } catch (const std::exception& error) {  // Error and UsageError hold their whole message
    return fail(tool, error.what());
  }
}

}  // namespace

int run_tool(const Tool& tool, const std::function<ExitCode()>& work) {
  install_handlers(tool.on_interrupt);
  return static_cast<int>(guard(tool, work));
}

}  // namespace traceloom
