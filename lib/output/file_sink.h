// Files that appear whole or not at all: hidden files that get the name of their target at the
// end, or are removed.
#pragma once

#include "output/sink.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

namespace traceloom {

// TemporaryFileEntry: registers a temporary file, so that a signal handler can remove it.
//
//   TemporaryFileEntry entry(".merged.json.traceloom-4711.tmp");   // registered as long as it
//   lives

// From construction to destruction, remove_temporary_files() unlinks `path`, or removes the folder
// of that name once its files are unlinked. There is room for 64 files at a time; a signal leaves
// further ones behind. Thread-safe.
class TemporaryFileEntry {
 public:
  explicit TemporaryFileEntry(const std::string& path) noexcept;
  ~TemporaryFileEntry();
  TemporaryFileEntry(const TemporaryFileEntry&) = delete;
  TemporaryFileEntry& operator=(const TemporaryFileEntry&) = delete;

 private:
  int slot_;
};

// Unlinks the temporary files of all open FileSinks. It is async-signal-safe, for a handler of
// SIGINT and SIGTERM after which the process ends.
void remove_temporary_files() noexcept;

// move_to_new_name: renames a file to a name that no other file has.
//
//   if (const int error = move_to_new_name(".rank0.json.tmp", "rank0.json")) ...  // EEXIST: taken

// It is atomic if the file system can rename without replacing, or supports hard links. On other
// file systems there is a short time in which a file of another program with that name would be
// lost. Returns 0, or an errno: EEXIST if the name is taken; the file then keeps its old name.
int move_to_new_name(const std::string& from, const std::string& to);

// Replacement: a hidden file next to a target, which replaces the target or is removed.
//
//   Replacement replacement("merged.json", target, std::nullopt);
//   write(replacement.descriptor(), ...);
//   replacement.complete();
//   replacement.replace_target();

// The file is called `.NAME.traceloom-PID.tmp` and stays locked (flock) while its process writes
// it. By the lock, the next process that writes the same target recognises, and removes, the file
// of a killed process. It removes only regular files with such a name, of the same owner, that are
// not locked, and none on a file system without locks.
class Replacement {
 public:
  // Creates the file with `mode`, or 0666 less the umask: other users never have more permissions
  // than on the final file. Throws Error with `path`, the user's name for the target.
  Replacement(std::string path, std::filesystem::path target, std::optional<mode_t> mode);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  // Valid until complete().
  int descriptor() const { return file_; }
  // The path of the hidden file.
  const std::string& temporary() const { return temporary_; }
  // Closes the descriptor and keeps the lock.
  void complete();
  void replace_target();

 private:
  void create(std::optional<mode_t> mode);

  std::string path_;
  std::filesystem::path target_;
  std::string temporary_;
  Descriptor file_;
  Descriptor lock_;
  std::optional<TemporaryFileEntry> entry_;
  bool done_ = false;
};

// lock_new(), remove_if_abandoned(): the rule for what a killed process leaves: it is not locked.
//
//   const int lock = open(".merged.json.traceloom-4711.tmp", O_WRONLY | O_CREAT | O_EXCL, 0666);
//   if (!lock_new(lock)) ...                      // take another name
//   remove_if_abandoned(".merged.json.traceloom-4710.tmp");

// Locks a new temporary file or folder. Returns false if another process that cleans up was faster
// and removes it. On a file system without locks it returns true, because no process can consider
// it abandoned there.
bool lock_new(int descriptor);
// Removes a regular file, or a folder with all that is in it, if it belongs to this user and no
// process has locked it.
void remove_if_abandoned(const std::string& path);

// Returns the folder of `target`, "." for a name alone.
std::filesystem::path folder_of(const std::filesystem::path& target);

// open_file_sink: writes a file that appears whole or not at all; "-" is stdout.
//
//   std::unique_ptr<Sink> sink = open_file_sink("merged.json");
//   sink->write(text);
//   sink->close();   // only now is there a merged.json

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
//   it and renamed by close() (file_sink.h). Its permissions are those of the file it replaces,
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
