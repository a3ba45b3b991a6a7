// TraceFile: a file that grows by whole pieces, and is worth reading wherever it ends.
//
//   TraceFile file("traces/ep0-ba0-rank0.unfinished.json.gz", 1);
//   file.write("[\n{...}");      // all of it gets there, or none
//   file.finish("traces/ep0-ba5-rank0.json.gz");
//
// gzip is written as one member that is flushed behind each piece: what reads a file of a killed
// process gets all pieces, and viewers that know only one member get the whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom::record {

// Where a TraceFile stands.
struct FileState {
  std::uint64_t bytes = 0;       // on disk
  std::uint64_t text_bytes = 0;  // before compression
  std::uint32_t crc32 = 0;       // of the text; counts for gzip only
};

// Not thread-safe.
class TraceFile {
 public:
  // Makes a new file; a name that ends in .gz is compressed. Throws Error when there is one already
  // or it cannot be made.
  TraceFile(const std::string& path, int gzip_level);
  // Goes on with a file of which `state` is true; what is behind that is cut off. Throws Error.
  TraceFile(const std::string& path, int gzip_level, const FileState& state);
  // Leaves the file as it is.
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Throws Error (disk full, I/O error), after the file has been cut back to where it stood.
  void write(std::string_view text);
  // Ends what has to be ended and gives the file its name: `path`, or when that exists and is not
  // to be overwritten one with a number. Returns it. Throws Error; then it keeps its old name.
  std::string finish(const std::string& path, bool overwrite);

  const FileState& state() const { return state_; }

 private:
  void write_bytes(std::string_view bytes);

  std::string path_;
  int gzip_level_;
  bool is_gzip_;
  int file_ = -1;
  FileState state_;
};

// "ep0-ba5-rank0.json.gz" -> "ep0-ba5-rank0.unfinished.json.gz", and back.
std::string unfinished_path(const std::string& path);
std::string finished_path(const std::string& unfinished);
// "rank0.json", 2 -> "rank0-2.json".
std::string numbered_path(const std::string& path, unsigned number);

}  // namespace traceloom::record
