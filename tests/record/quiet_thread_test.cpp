#include "record/support/process_support.h"
#include "support/child_process.h"
#include "support/refused_calls.h"

#include <array>
#include <system_error>

using namespace traceloom;
using namespace traceloom::record;

namespace {

bool is_blocked(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

}  // namespace

TEST_CASE("quiet_thread: has its name, takes no signal, and leaves those of its starter alone") {
  std::array<char, 16> name{};
  bool takes_none = false;
  std::thread thread = start_quiet_thread("quiet", [&] {
    pthread_getname_np(pthread_self(), name.data(), name.size());
    takes_none = is_blocked(SIGTERM) && is_blocked(SIGCHLD) && is_blocked(SIGUSR1);
  });
  thread.join();
  CHECK(std::string(name.data()) == "quiet");
  CHECK(takes_none);
  CHECK_FALSE(is_blocked(SIGTERM));
}

TEST_CASE("quiet_thread: where none can be started signals are as they were") {
  CHECK(run_child([] {
          refuse_threads();
          try {
            start_quiet_thread("quiet", [] {}).join();
          } catch (const std::system_error& error) {
            if (error.code() != std::errc::resource_unavailable_try_again) _exit(2);
            _exit(is_blocked(SIGTERM) ? 3 : 0);
          }
          _exit(4);
        }) == 0);
}
