// FileSink: a file that appears whole or not at all; "-" is stdout.
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

// The reader of stdout has gone away (a closed pipe): no error for the user, the run just ends.
// Needs SIGPIPE to be ignored, which is the program's business.
class ClosedPipe {};

struct StdoutUse {
  // Holds nothing from outside that a terminal would obey, and maybe colours. Any other text is
  // escaped where stdout is a terminal.
  bool for_people = false;
  // Goes on, and writes no more, when its reader has gone: of work that has an answer beside what
  // it writes. Otherwise that throws ClosedPipe.
  bool outlives_reader = false;
};

// A regular file, or one that does not exist yet, is written as `.NAME.traceloom-PID.tmp` beside it
// and renamed on close() (replacement.h); its permissions are those of the file it replaces, or
// 0666 less the umask. A link is followed: the file it leads to is replaced. Anything else
// (/dev/null, a pipe, a device) is written to directly. Small writes are gathered, so an error may
// show up at a later write() or at close().
//
// Throws Error when the file cannot be created or may
// not be written: the message names the reason and, for a missing directory, says so.
std::unique_ptr<Sink> open_file_sink(const std::string& path, StdoutUse stdout_use = {});

// True when open_file_sink(path) writes beside the file until it is closed: what has been written
// can be thrown away and written anew.
bool is_written_aside(const std::string& path);

// Where open_file_sink(path) writes aside: the folder of the file that a chain of links leads to,
// "." for a name alone. Throws Error for a chain without an end.
std::filesystem::path folder_written_to(const std::string& path);

}  // namespace traceloom
