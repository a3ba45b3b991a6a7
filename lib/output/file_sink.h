// open_file_sink: writes a file that appears whole or not at all; "-" is stdout.
//
//   std::unique_ptr<Sink> sink = open_file_sink("merged.json");
//   sink->write(text);
//   sink->close();   // only now is there a merged.json
#pragma once

#include "output/sink.h"

#include <filesystem>
#include <memory>
#include <string>

namespace traceloom {

// Thrown if the reader of stdout has gone away (a closed pipe): that is no error for the user, the
// run just ends. The program must ignore SIGPIPE.
class ClosedPipe {};

struct StdoutUse {
  // The text holds nothing from outside that a terminal would obey, and may have colours. Any other
  // text is escaped if stdout is a terminal.
  bool for_people = false;
  // If the reader goes away, the sink ignores further text instead of throwing ClosedPipe. Work
  // that has a result besides its text needs this.
  bool outlives_reader = false;
};

// Opens the output:
// - A regular file, or one that does not exist yet, is written as `.NAME.traceloom-PID.tmp` next to
//   it and renamed by close() (replacement.h). Its permissions are those of the file it replaces,
//   or 0666 less the umask.
// - A link is followed: its target is replaced.
// - Anything else (/dev/null, a pipe, a device) is written to directly.
//
// Small writes are gathered, so an error may show up at a later write() or at close(). Throws Error
// with the reason if the file cannot be created or must not be written; the message names a missing
// directory.
std::unique_ptr<Sink> open_file_sink(const std::string& path, StdoutUse stdout_use = {});

// True if open_file_sink(path) writes a temporary file until it is closed, so that the caller can
// discard the text and write it anew.
bool is_written_aside(const std::string& path);

// Returns the folder in which open_file_sink(path) writes its temporary file: the folder of the
// file at the end of a chain of links, "." for a name alone. Throws Error for a chain without an
// end.
std::filesystem::path folder_written_to(const std::string& path);

}  // namespace traceloom
