// The bytes of inputs: delivered piece by piece or from any place, and the same in each pass.
#pragma once

#include "base/file_system.h"
#include "base/problems.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

namespace traceloom {

// FileWatch: makes sure that all passes over some files read the same bytes.
//
//   FileWatch watch;
//   watch.opened("rank3.json", descriptor);   // after each open
//   watch.read("rank3.json", descriptor);     // after each complete read

// The facts by which a file that was written to, cut or replaced differs from the earlier one.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;  // time of the last change of its bytes (mtime)

  friend bool operator==(const FileState&, const FileState&) = default;
};

// Watches regular files only. Thread-safe.
class FileWatch {
 public:
  // Both throw Error if the file differs from the one that was opened first. A file that is removed
  // while it is read stays whole for its readers, so that is no error.
  void opened(const std::string& path, int descriptor);
  void read(const std::string& path, int descriptor) const;

 private:
  std::optional<FileState> known(const std::string& path) const;

  mutable std::mutex mutex_;
  std::map<std::string, FileState> states_;
};

// SeekableFile: reads any part of a regular file.
//
//   if (std::optional<SeekableFile> file = SeekableFile::open("rank3.json"))
//     std::string last = file->read(file->size() - 4096, 4096);

class SeekableFile {
 public:
  // Returns nullopt if the file cannot be opened or is not a regular file. Throws Error if `watch`
  // has seen another file there.
  static std::optional<SeekableFile> open(const std::string& path, FileWatch* watch = nullptr);

  std::uint64_t size() const { return size_; }
  // Returns a shorter text at the end of the file, or if the file cannot be read.
  std::string read(std::uint64_t offset, std::size_t size) const;

 private:
  SeekableFile(Descriptor file, std::uint64_t size) : file_(std::move(file)), size_(size) {}

  Descriptor file_;
  std::uint64_t size_;
};

// ByteSource: the uncompressed text of one input, piece by piece.
//
//   std::unique_ptr<ByteSource> source = open_input("rank3.json.gz");
//   std::vector<char> buffer(1 << 20);
//   while (std::size_t n = source->read(buffer)) use(buffer.data(), n);
//
// To support another compression, write a subclass (gzip_source.h is an example) and add its magic
// bytes to byte_source.cpp.

// Several threads may use it one after another (a serial stage of a pipeline), but not at once.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills `buffer` from the front and returns the number of bytes read. The number is smaller than
  // the buffer only at the end of the input, and 0 if nothing is left. Throws Error if the input
  // cannot be read (EIO, a directory, ...). Damage that leaves something to read (a cut or corrupt
  // gzip) does not throw: it ends the data and is counted in problems().
  virtual std::size_t read(std::span<char> buffer) = 0;

  // Throws Error if the file changed since it was opened, because the bytes read may then mix two
  // versions. Callers call it after they have read all they want.
  virtual void check_unchanged() const {}

  // The problems of the bytes read so far; offsets count in the uncompressed text.
  virtual const ProblemCounts& problems() const = 0;

  // Bytes consumed of the file on disk, and its size, for progress. The size of a pipe is not
  // known.
  virtual std::uint64_t stored_bytes_read() const = 0;
  virtual std::optional<std::uint64_t> stored_size() const = 0;

 protected:
  ByteSource() = default;
};

// UnpackedSource: the base of sources that unpack what another source delivers.
class UnpackedSource : public ByteSource {
 public:
  void check_unchanged() const override { packed_->check_unchanged(); }
  const ProblemCounts& problems() const override { return problems_; }
  std::uint64_t stored_bytes_read() const override { return packed_->stored_bytes_read(); }
  std::optional<std::uint64_t> stored_size() const override { return packed_->stored_size(); }

 protected:
  // `known` holds problems that are known before the first byte is read.
  UnpackedSource(std::unique_ptr<ByteSource> packed, const ProblemCounts& known)
      : packed_(std::move(packed)), problems_(known) {}

  ByteSource& packed() { return *packed_; }
  void add_problem(Problem kind, std::uint64_t offset) { problems_.add(kind, offset); }
  // Counts why the text ends after `text_bytes`, and what was wrong with the packed data. Damage of
  // a lower layer (gzip inside gzip) also cuts this layer: it is counted once, at an offset of this
  // layer's text.
  void add_end(std::optional<Problem> reason, std::uint64_t text_bytes);

 private:
  std::unique_ptr<ByteSource> packed_;
  ProblemCounts problems_;
};

// PlainSource: reads a file, a pipe or stdin without any conversion.
//
//   PlainSource source("rank3.json");   // "-" is stdin
//
// A plain read() is as fast as a mapping here, because the text is read once and is in the cache
// then (two threads of a merge: 0.256 s, mapped 0.269). And if a file shrinks meanwhile, read()
// ends the data, while a mapping would end the process.

// Returns the name of an input for messages: "stdin" for "-", otherwise the path itself.
std::string input_name(const std::string& path);

// Allows opening "-" more than once. A stdin that is no file is copied to a temporary file in
// $TMPDIR or /tmp, which has no name and disappears with the process. Throws Error if there is no
// room for it.
void make_stdin_rereadable();

class PlainSource : public ByteSource {
 public:
  // Throws Error if the path cannot be opened or is a directory or device, or if `watch` has seen
  // another file there. A pipe that nobody writes to within two seconds is empty.
  explicit PlainSource(const std::string& path, FileWatch* watch = nullptr);

  std::size_t read(std::span<char> buffer) override;
  void check_unchanged() const override;
  const ProblemCounts& problems() const override { return problems_; }
  std::uint64_t stored_bytes_read() const override { return bytes_read_; }
  std::optional<std::uint64_t> stored_size() const override { return size_; }

 private:
  std::string path_;
  FileWatch own_watch_;  // if there is one pass alone
  FileWatch& watch_;
  int descriptor_;
  Descriptor file_;  // the same, but none for stdin
  std::uint64_t bytes_read_ = 0;
  std::optional<std::uint64_t> size_;
  ProblemCounts problems_;
};

// Opens inputs of any format, and recognises files that are no traces.

// sniff_foreign: recognises files that are no JSON text by their first bytes.
//
//   std::optional<Foreign> foreign = sniff_foreign(head);
//   if (foreign) throw Error(path, fmt::format("is {}; {}", foreign->what, foreign->advice));
//
// To recognise another format: one row in the table in byte_source.cpp.

// The magic of a tar header ends at byte 262; all other formats need only a few bytes.
inline constexpr std::size_t kSniffBytes = 512;

struct Foreign {
  std::string_view what;    // the words after "is": "a zip archive"
  std::string_view advice;  // the advice: "unpack it first (unzip)"
};

bool is_gzip(std::string_view head);

// `head` is the first kSniffBytes of a file, or all of a shorter one. Returns nullopt for text: the
// reader of the text finds out whether it is a trace.
std::optional<Foreign> sniff_foreign(std::string_view head);

// True for a pipe with a name, also one of a shell: <(command).
bool is_pipe(const std::string& path);

// open_input: opens an input and recognises its format by the first bytes, never by its name.

// Opens plain text, gzip (any number of members) or zstd (any number of frames, which are unpacked
// by up to `threads` threads ahead of the reader); what is packed twice is unpacked twice. "-" is
// stdin. Throws Error if the file cannot be opened, is empty or a device, or is something other
// than a JSON trace: zip, bzip2, xz, PNG, HTML, UTF-16, a git-lfs pointer, a binary Perfetto trace,
// SQLite. The message names the format and what to do. Throws Error also if `watch` has seen
// another file at this path; `watch` must live as long as the source.
std::unique_ptr<ByteSource> open_input(const std::string& path, FileWatch* watch = nullptr,
                                       unsigned threads = 1);

// The same for a file of any format: nothing is refused by its first bytes. Throws Error if it
// cannot be opened or is empty.
std::unique_ptr<ByteSource> open_any(const std::string& path);

// Returns the first bytes of a file that open_any() opens, at most 4 KiB; empty if it cannot be
// opened.
std::string first_bytes(const std::string& path);

// True for the first bytes of JSON that is a list of lists.
bool has_rows(std::string_view head);

// read_text: all of a small file that is no trace, opened by the same rules.
//
//   const JsonDocument settings(read_text("settings.json", 1 << 20));

// Throws Error as open_input() and its source do, and if the text has more than `most` bytes.
std::string read_text(const std::string& path, std::size_t most);

// json_file: recognises JSON files that lie beside traces and are none: reports, settings, notes.
//
//   if (json_file("traces/report.json") == JsonFile::other) continue;

// `other` is a file that is one whole JSON object in which "traceEvents" does not occur, `rows` one
// that begins as a list of lists. A trace that is damaged or cut is neither: its reader has to
// report what is wrong. Nor is an object of more than 4 MiB (uncompressed), which is not read to
// its end, or a file that cannot be read. Of most traces only the first 4 KiB are read.
enum class JsonFile : std::uint8_t { trace, other, rows };
JsonFile json_file(const std::string& path);

}  // namespace traceloom
