// scan_files: runs over all events of many files, in parallel, and hands the results on in file
// order.
//
//   SpanCounter counter;  // a FileVisitor: visit() counts 'X' into its ChunkResult, take() adds up
//   scan_files({"rank0.json", "rank1.json.gz"}, counter, {.threads = 2});
//
// How: a serial stage reads (and inflates) the files one after the other into 1 MiB chunks cut
// where an event seems to start; chunks are scanned in parallel; a serial stage takes the results
// in order, after checking that each chunk really began where the one before it ended. A chunk that
// did not is scanned again, joined with what was left over: a wrong guess costs time and never
// changes a result. Chunks depend on the text alone, so the results do not depend on the number of
// threads. Memory: 3 chunks a thread, plus the largest single event.
#pragma once

#include "base/error.h"
#include "base/problems.h"
#include "event/event.h"
#include "input/file_watch.h"
#include "scan/event_shapes.h"
#include "scan/top_level.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// What is known of a file once it has been read to its end.
struct FileEnd {
  TopLevelParser& top_level;
  ProblemCounts problems;    // container, compression and elements; the visitor's own are not in it
  std::uint64_t events = 0;  // objects in the event list
  std::uint64_t text_bytes = 0;  // uncompressed
};

// What one chunk gave; subclassed by each user. Made and destroyed in any thread, used by one at a
// time.
class ChunkResult {
 public:
  virtual ~ChunkResult() = default;
  ProblemCounts problems;  // for the visitor's visit(); scan_files leaves it alone
};

class FileVisitor {
 public:
  virtual ~FileVisitor() = default;

  // Args::skip is faster; the events are the same, but flags.strict is not set. Asked for often.
  virtual Args wanted_args() const { return Args::read; }

  // A result for the next chunk; thread-safe. Results come back by recycle() when they are done
  // with, so that their memory can be used again.
  virtual std::unique_ptr<ChunkResult> make_result() = 0;
  virtual void recycle(std::unique_ptr<ChunkResult> result);

  // One event of `file`, in file order within a chunk; called for several chunks at a time. The
  // event is valid during the call.
  virtual void visit(ChunkResult& result, std::size_t file, const Event& event) = 0;

  // The chunk's events have all been visited; still in parallel. For work on the whole chunk
  // (compression).
  virtual void finish_chunk(ChunkResult& result);

  // The results, one at a time, in the order of the files and of their text.
  virtual void take(ChunkResult& result, std::size_t file) = 0;
  virtual void end_file(std::size_t file, const FileEnd& end) = 0;

  // `file` could not be read to its end, or is no trace. Throw (the default throws `error`) to stop
  // everything, return to go on with the next file; then end_file() is not called for it. Called
  // once a file at most, and never for what the visitor itself throws: that always stops
  // everything.
  virtual void fail_file(std::size_t file, const Error& error);
};

// The largest single event that is kept unless another size is asked for; a larger one is
// Problem::event_too_large.
inline constexpr std::size_t kMaxEventBytes = std::size_t{128} << 20;
inline constexpr std::size_t kChunksPerThread = 3;
// As many as there are cores when 0 are asked for.
std::size_t thread_count(unsigned wanted);

struct ScanOptions {
  unsigned threads = 0;              // 0: as many as there are cores; 1: the caller's, without TBB
  std::size_t chunks_in_flight = 0;  // read and not yet taken; 0: three a thread
  std::size_t max_event_bytes = kMaxEventBytes;
  // Sees whether files change while they are read, or between this pass and another; nullptr:
  // nobody wants to know. Files that do have failed.
  FileWatch* watch = nullptr;
  // Called from time to time, in any thread, with the bytes of the files (as stored) read so far.
  std::function<void(std::uint64_t)> progress = {};
};

// Calls the visitor for all events of all files. Throws what the visitor throws.
void scan_files(const std::vector<std::string>& paths, FileVisitor& visitor,
                const ScanOptions& options);

}  // namespace traceloom
