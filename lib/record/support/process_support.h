// The manners of a library that lives in the process of another program: forks, files of other
// users, signals.
#pragma once

#include "base/problems.h"

#include <csignal>
#include <pthread.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <utility>

namespace traceloom::record {

// keep_forever(): keeps what the child of a fork() must not destroy, because threads that do not
// exist there may wait for it or hold its lock.
//
//   keep_forever(condition_.release());  // in the child; a checker for leaks still finds it

// Call this only in the child of a fork(), which has one thread. It costs two pointers until the
// process ends.
void keep_forever(const void* object) noexcept;

// check_own_file(): checks that a file which lies where others may write was made by this user's
// recorder.
//
//   struct stat info {};
//   fstat(file, &info);
//   check_own_file(path, info);     // throws ForeignFile: "belongs to user 1000, not to ..."

// Thrown if the file belongs to somebody else, or may be another one than its name says.
class ForeignFile : public Error {
 public:
  using Error::Error;
};

// Throws ForeignFile unless it is a regular file of this user and has one name.
void check_own_file(const std::string& path, const struct stat& info);

// start_quiet_thread(): starts threads of the library, which take no signals. Signals are for the
// threads of the program, whose handlers may rely on which of them they interrupt.
//
//   thread_ = start_quiet_thread("traceloom", [this] { run(); });

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
