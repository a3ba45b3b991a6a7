// keep_forever: for what the child of a fork() must not destroy, since threads that do not exist
// there may wait for it or hold its lock.
//
//   keep_forever(condition_.release());  // in the child; a checker for leaks still finds it
#pragma once

namespace traceloom::record {

// Only in the child of a fork(), which has one thread. Costs two pointers until the process ends.
void keep_forever(const void* object) noexcept;

}  // namespace traceloom::record
