// The manners of a library that lives in the process of another program: forks, files of other
// users, signals.
#pragma once

#include "base/problems.h"

#include <csignal>
#include <functional>
#include <memory>
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

// tell(): gives the log of a program a line. Nobody can be informed of a log that fails.
//
//   tell(options.log, "marker 'x': ...");

void tell(const std::function<void(const std::string&)>& log, const std::string& line) noexcept;

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

// Locks the file for this process alone, until that ends or closes any descriptor of it. The lock
// belongs to the process and not to the open file, so that a child of fork() does not keep it
// alive. Returns false if another process has it. Throws Error if nothing can be locked.
bool lock_for_process(int file, const std::string& path);

// start_quiet_thread(): starts threads of the library, which take no signals. Signals are for the
// threads of the program, whose handlers may rely on which of them they interrupt.
//
//   thread_ = start_quiet_thread("traceloom", [this] { run(); });

// `name` is what the system shows, at most 15 characters; the text must live as long as the thread.
// Throws std::system_error if there can be no more threads.
template <typename Work>
std::thread start_quiet_thread(const char* name, Work work) {
  // A thread that is started while all signals are blocked keeps them so for good.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto unblock = [](sigset_t* set) { pthread_sigmask(SIG_SETMASK, set, nullptr); };
  const std::unique_ptr<sigset_t, decltype(unblock)> at_end(&before, unblock);
  return std::thread([name, work = std::move(work)] {
    pthread_setname_np(pthread_self(), name);
    work();
  });
}

}  // namespace traceloom::record
