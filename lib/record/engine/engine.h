// What others ask of the session of this process (session.h): its end, and whether it calls them.
#pragma once

namespace traceloom::record {

#pragma GCC visibility push(default)  // the merge per node calls it at exit
// Closes the session that is open, if there is one, so that it writes its files. The exit of the
// process calls this.
void close_open_session();
#pragma GCC visibility pop

// Returns true within a call that the open session makes in its writer's thread, where close() does
// nothing.
bool is_session_calling();

}  // namespace traceloom::record
