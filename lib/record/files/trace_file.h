// TraceFile: a file that grows by whole pieces, and is worth reading wherever it ends.
//
//   TraceFile file("traces/ep0-ba0-rank0.unfinished.json.gz", 1);
//   file.write("[\n{...}");      // all of it gets there, or none; now the file has its name
//   file.write_last("\n]\n");    // so does this, with the end of the gzip member
//   file.finish("traces/ep0-ba5-rank0.json.gz");
//
// Until its first text has been written the file is nameless, so that a kill never leaves a file
// that is no trace. If the file system has no nameless files, it is a hidden one meanwhile.
//
// gzip is written as one member that is flushed after each piece: a reader of a killed process's
// file gets all pieces, and viewers that know only one member get the whole. Of zstd, each piece is
// a frame.
#pragma once

#include "base/file_system.h"
#include "output/file_sink.h"
#include "output/sink.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom::record {

// The state of a TraceFile.
struct FileState {
  std::uint64_t bytes = 0;       // on disk
  std::uint64_t text_bytes = 0;  // before compression
  std::uint32_t crc32 = 0;       // checksum of the text; counts for gzip only
  std::uint64_t inode = 0;       // identifies the file
};

// The room that only write_last() may take, so that a file can say what it lacks on a full disk,
// too.
inline constexpr std::size_t kEndBytes = 1024;

// The moment when a new file gets a name: with its first text, so that a kill leaves what is in it,
// or when it is finished, so that it is there whole or not at all. Until then it is a hidden one.
enum class Naming : std::uint8_t { with_text, at_end };

// Asked for another path if somebody has the one that a file was to get. `state` is that of a file
// without text.
using NextPath = std::function<std::string(const FileState& state)>;

// Not thread-safe.
class TraceFile {
 public:
  // Makes a new file in the folder of `path`; a file whose name ends in .gz or .zst is compressed,
  // the latter at zstd's usual level. It is called `path` once the first text is in it. If somebody
  // else has taken that name meanwhile, it gets one of `next_path`, or is refused if there is none.
  // With Naming::at_end it gets the name that finish() is given, and is gone if that is not called.
  // Throws Error if the file cannot be made.
  TraceFile(const std::string& path, int gzip_level, NextPath next_path = {},
            Naming naming = Naming::with_text);
  // Goes on with a file that is in `state`; what comes after that is cut off. Throws Error, and
  // ForeignFile (process_support.h) if it is a link or not this user's own.
  TraceFile(const std::string& path, int gzip_level, const FileState& state);
  // Leaves the file as it is; a file without a name is gone.
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Throws Error (disk full, I/O error) after the file has been cut back to where it stood. Also
  // throws if somebody has a file of that name by now; that file is left alone, and this one
  // is_refused().
  void write(std::string_view text);
  // Does the same with the last text, and completes the gzip member in the same write: where that
  // succeeds, finish() needs no more room.
  void write_last(std::string_view text);
  // Takes off what was written after `state`, which has to be an earlier state of the file. Throws
  // Error.
  void cut_back(const FileState& state);
  // Ends the file and gives it its last name: `path`, or if that exists and must not be
  // overwritten, one with a number. Returns the name; "" if no text was ever written, because there
  // is no file then. Throws Error; then the file keeps its old name.
  std::string finish(const std::string& path, bool overwrite);

  const FileState& state() const { return state_; }
  // True for good: the file does not get the name when that becomes free later, either.
  bool is_refused() const { return refusal_ != 0; }

 private:
  // The room that a write may take: all there is, or all but the room that is kept for the end.
  enum class Room : std::uint8_t { but_for_end, all };

  void begin_state();
  bool make_nameless();
  int make_hidden();
  void claim_name(std::string_view first, Room room);
  int try_name(std::string_view first, Room room);
  bool wants_name() const { return !has_name_ && naming_ == Naming::with_text; }
  void append(std::string_view text, Room room);
  void write_bytes(std::string_view bytes, Room room);
  void take_room(std::size_t bytes);

  std::string path_;
  Packing packing_;
  int level_;
  NextPath next_path_;
  bool has_name_ = false;
  Naming naming_ = Naming::with_text;
  int refusal_ = 0;                                 // the errno that says why it gets no name
  std::string hidden_path_;                         // its name before that; "": none
  std::optional<TemporaryFileEntry> hidden_entry_;  // a signal finds it here, to delete it
  Descriptor file_;
  FileState state_;
  bool is_complete_ = false;      // the last text is written
  bool can_take_room_ = true;     // false if the file system cannot do that
  std::uint64_t taken_room_ = 0;  // taken up to this byte
};

// Returns the inode of the file at `path`; 0 if there is none.
std::uint64_t inode_of(const std::string& path);

// Turn "ep0-ba5-rank0.json.gz" into "ep0-ba5-rank0.unfinished.json.gz", and back. Here and below, a
// name that would be longer than file systems take (255 bytes) loses the end of "ep0-ba5-rank0".
std::string unfinished_path(const std::string& path);
std::string finished_path(const std::string& unfinished);
// Returns "rank0-2.json" for "rank0.json" and 2.
std::string numbered_path(const std::string& path, unsigned number);
// Gives a complete file its last name: `path`, or if that exists and must not be overwritten, one
// with a number. Returns the name. Throws Error; then the file keeps its old name.
std::string give_last_name(const std::string& from, const std::string& path, bool overwrite);
// Returns the unfinished path of `path`, or of the first numbered one that nobody has: a killed run
// may have left a file that nobody has looked at yet.
std::string new_unfinished_path(const std::string& path);

}  // namespace traceloom::record
