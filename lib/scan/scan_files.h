// scan_files: reads all events of many files in parallel, and delivers the results in file order.
//
//   SpanCounter counter;  // a FileVisitor: visit() counts 'X' into its ChunkResult, take() adds up
//   scan_files({"rank0.json", "rank1.json.gz"}, counter, {.threads = 2});
//
// It works in three stages:
// 1. A serial stage reads (and inflates) one file after another into chunks of 1 MiB, cut where an
//    event seems to start.
// 2. A parallel stage scans the chunks.
// 3. A serial stage takes the results in order, and checks that each chunk really began where the
//    previous one ended. A chunk that did not is joined with the rest of the previous one and
//    scanned again: a wrong guess costs time but never changes a result.
//
// Chunks depend only on the text, so the results do not depend on the number of threads. Memory
// holds 3 chunks a thread and the largest single event.
#pragma once

#include "base/problems.h"
#include "event/event.h"
#include "input/byte_source.h"
#include "input/input_list.h"
#include "scan/event_shapes.h"
#include "scan/top_level.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace traceloom {

// The facts about a file that was read to its end.
struct FileEnd {
  TopLevelParser& top_level;
  ProblemCounts problems;        // problems of container, compression and elements, without the
                                 // visitor's own
  std::uint64_t events = 0;      // number of objects in the event list
  std::uint64_t text_bytes = 0;  // uncompressed
};

// The results of one chunk; each user derives a class. It is created and destroyed in any thread,
// and used by one thread at a time.
class ChunkResult {
 public:
  virtual ~ChunkResult() = default;
  // Makes the result fit for another chunk, so that its memory is used again. Returns false if it
  // is to be destroyed.
  virtual bool reset() { return false; }
  ProblemCounts problems;  // for the visitor's visit(); scan_files does not use it
};

class FileVisitor {
 public:
  virtual ~FileVisitor() = default;

  // Args::skip is faster; the events are the same, but flags.strict is not set. It is called often.
  virtual Args wanted_args() const { return Args::read; }

  // Makes a result for a chunk; must be thread-safe.
  virtual std::unique_ptr<ChunkResult> make_result() = 0;
  // Returns a result that has been recycled, or else a new one. Both functions are thread-safe.
  std::unique_ptr<ChunkResult> take_result();
  void recycle(std::unique_ptr<ChunkResult> result);

  // Visits one event of `file`, in file order within a chunk. It is called for several chunks at a
  // time. The event is valid only during the call; its text stays until the chunk is finished.
  virtual void visit(ChunkResult& result, std::size_t file, const Event& event) = 0;

  // Called after all events of the chunk were visited, still in parallel, for work on the whole
  // chunk (compression).
  virtual void finish_chunk(ChunkResult& result);

  // Takes the results, one at a time, in the order of the files and of their text.
  virtual void take(ChunkResult& result, std::size_t file) = 0;
  virtual void end_file(std::size_t file, const FileEnd& end) = 0;

  // Called if `file` could not be read to its end or is no trace. An implementation throws (the
  // default throws `error`) to stop everything, or returns to continue with the next file;
  // end_file() is then not called for this one. It is called at most once a file. It is never
  // called for an exception of the visitor itself, which always stops everything.
  virtual void fail_file(std::size_t file, const Error& error);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<ChunkResult>> recycled_;
};

// The default for the largest single event that is kept; a larger one is Problem::event_too_large.
inline constexpr std::size_t kMaxEventBytes = std::size_t{128} << 20;
inline constexpr std::size_t kChunksPerThread = 3;
// Returns the number of cores if `wanted` is 0.
std::size_t thread_count(unsigned wanted);

struct ScanOptions {
  unsigned threads = 0;              // 0: one a core; 1: the caller's alone, without TBB
  std::size_t chunks_in_flight = 0;  // chunks that are read and not yet taken; 0: three a thread
  std::size_t max_event_bytes = kMaxEventBytes;
  // Files that change while they are read have failed; with a watch that several passes share,
  // also files that change between them.
  FileWatch* watch = nullptr;
  // Called from time to time, in any thread, with the bytes of the files (as stored) read so far.
  std::function<void(std::uint64_t)> progress = {};
  // The files to read; the others keep their numbers and are left to other processes.
  FileBlock files = kAllFiles;
  // If set, the files to read in place of these, by their numbers and in this order.
  const std::vector<std::size_t>* order = nullptr;
};

// Visits all events of all files. Errors of their text have the inputs' names for people. Throws
// what the visitor throws.
void scan_inputs(const std::vector<Input>& inputs, FileVisitor& visitor,
                 const ScanOptions& options);
// Does the same for files that go by their paths.
void scan_files(const std::vector<std::string>& paths, FileVisitor& visitor,
                const ScanOptions& options);

}  // namespace traceloom
