// FileSink: a file that appears whole or not at all; "-" is stdout.
#pragma once

#include <memory>
#include <string>

#include "output/sink.h"

namespace traceloom {

// The reader of stdout has gone away (a closed pipe): no error for the user, the run just ends.
class ClosedPipe {};

// A regular file, or one that does not exist yet, is written as `.NAME.PID.tmp` beside it and renamed on
// close(); its permissions are those of the file it replaces, or 0666 less the umask. Anything else (/dev/null, a pipe, a device) is written to directly. Writing to
// a closed stdout throws ClosedPipe. Throws Error when the file cannot be created: the message names the
// reason and, for a missing directory, says so. SIGINT and SIGTERM remove the temporary file (remove_temporary_files() is
// async-signal-safe and is what the tools' handler calls).
std::unique_ptr<Sink> open_file_sink(const std::string& path);

// Unlinks the temporary files of all FileSinks that are open. Async-signal-safe.
void remove_temporary_files() noexcept;

}  // namespace traceloom
