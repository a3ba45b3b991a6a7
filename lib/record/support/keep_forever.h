// keep_forever(): keeps what the child of a fork() must not destroy, because threads that do not
// exist there may wait for it or hold its lock.
//
//   keep_forever(condition_.release());  // in the child; a checker for leaks still finds it
#pragma once

namespace traceloom::record {

// Call this only in the child of a fork(), which has one thread. It costs two pointers until the
// process ends.
void keep_forever(const void* object) noexcept;

}  // namespace traceloom::record
