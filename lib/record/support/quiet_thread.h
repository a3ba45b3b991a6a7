// start_quiet_thread(): starts threads of the library, which take no signals. Signals are for the
// threads of the program, whose handlers may rely on which of them they interrupt.
//
//   thread_ = start_quiet_thread("traceloom", [this] { run(); });
#pragma once

#include <csignal>
#include <pthread.h>
#include <thread>
#include <utility>

namespace traceloom::record {

// Blocks all signals in this thread while it lives; a thread that is started meanwhile keeps them
// blocked for good.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

// `name` is what the system shows, at most 15 characters; the text must live as long as the thread.
// Throws std::system_error if there can be no more threads.
template <typename Work>
std::thread start_quiet_thread(const char* name, Work work) {
  const SignalsBlocked blocked;
  return std::thread([name, work = std::move(work)] {
    pthread_setname_np(pthread_self(), name);
    work();
  });
}

}  // namespace traceloom::record
