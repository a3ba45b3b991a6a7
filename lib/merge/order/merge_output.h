// The ways to bring blocks of events into order before they are written, and the parts of a merged
// trace that wait on disk.
#pragma once

#include "merge/order/event_block.h"
#include "output/sink.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// PartOutput: a part of an output that waits on disk until its size is known: some of the blocks of
// a merged trace, which another process writes the rest of, or a trace of an archive.
//
//   PartOutput part("merged.json.gz", 1);                  // on each process but the first
//   part.output().write_block(block);
//   const PartSize size = part.complete();
//   const std::vector<FileGap> gaps = leave_gaps(output, sizes);    // on the first, for all
//   part.copy_to(gaps[rank]);

struct PartSize {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;  // of the text, if it is compressed
  std::uint64_t text_size = 0;
};

// The part waits in a file without a name, in the folder of the output.
class PartOutput {
 public:
  // Packs as packing_of_name() says.
  PartOutput(const std::string& path, int level);

  Sink& output() { return *sink_; }
  // Must be called after all blocks have been written.
  PartSize complete();
  // Writes the part to its place. Throws Error with the path of the output.
  void copy_to(const FileGap& gap) const;
  void for_each_piece(const std::function<void(std::string_view)>& use) const {
    spool_.for_each_piece(use);
  }

 private:
  std::string path_;
  SpoolFile spool_;
  std::unique_ptr<Sink> sink_;
};

// Makes room for the parts, one after the other, and counts their text. Returns one gap a part.
std::vector<FileGap> leave_gaps(Sink& output, const std::vector<PartSize>& parts);

// BlockOutput: brings events into the order they have in the merged trace, and writes them there.
//
//   std::unique_ptr<BlockOutput> blocks = std::make_unique<OrderWindow>(output);
//   blocks->prepare(block);            // in any thread
//   blocks->take(block);               // in the order of the files and of their text
//   blocks->end_file();
//   blocks->finish();

class BlockOutput {
 public:
  virtual ~BlockOutput() = default;
  // Does what a block needs by itself. Thread-safe.
  virtual void prepare(EventBlock& block) const = 0;
  // Leaves some block in `block`, to be cleared and used again.
  virtual void take(EventBlock& block) = 0;
  virtual void end_file() = 0;
  // Must be called after all files have been taken.
  virtual void finish() = 0;
};

// OrderWindow: writes blocks in the order of their files. Within a window of the last blocks it
// first puts events into the order that viewers need (event_block.h).
//
//   OrderWindow window(output);
//   window.prepare(block);  window.take(block);  window.end_file();

// Events are sorted within 2 MiB of a file's text, or of what its begin and end events become in
// that text. That is enough, because a parent stands directly before its first child or after its
// last one. Memory: that much text.
class OrderWindow : public BlockOutput {
 public:
  explicit OrderWindow(Sink& output) : output_(output), packed_(output.packed()) {}

  // Also compresses the block if the output is packed.
  void prepare(EventBlock& block) const override;
  void take(EventBlock& block) override;
  // Writes the blocks held back: events of different files do not change places.
  void end_file() override;
  void finish() override {}

 private:
  // Chunks of the file and blocks of joined slices take turns.
  static constexpr std::size_t kBlocks = 3;
  void compress(EventBlock& block) const;
  void write(EventBlock& block);

  Sink& output_;
  PackedSink* packed_;  // output_, if that packs
  std::deque<EventBlock> held_;
  std::vector<EventBlock> spares_;  // from files that have ended, to use their memory again
};

// SortedRun: holds events in the order of their time on disk, to be read back one by one.
//
//   SortedRun run("merged.json");
//   run.add(event, text);  ...
//   while (run.next()) use(run.event(), run.text());
class SortedRun {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

  // Puts its file next to `output`, as SpoolFile does.
  explicit SortedRun(const std::string& output) : file_(std::make_unique<SpoolFile>(output)) {}

  void add(const PlacedEvent& event, std::string_view text);
  // Goes to the first event, and then to each next one, once all have been added. Returns false
  // after the last one.
  bool next();
  // Both are valid until the next call of next().
  const PlacedEvent& event() const { return event_; }
  std::string_view text() const { return text_; }

 private:
  void flush();
  // Returns the next bytes of the file, as a view of buffer_.
  std::string_view take(std::size_t size);

  std::unique_ptr<SpoolFile> file_;
  std::string buffer_;
  bool is_reading_ = false;
  std::uint64_t read_ = 0;     // bytes of the file that have been read
  std::size_t buffer_at_ = 0;  // bytes of buffer_ that have been taken
  PlacedEvent event_;
  std::string_view text_;
};

// TimeSorter: writes the events of all files in the order of their time, however many there are.
//
//   TimeSorter sorter(output, "merged.json");
//   sorter.take(block);  ...  sorter.finish();
//
// Events of one time are sorted by OrderClass; slices (also a B whose end is known) then by length,
// the longest first, by track, and by where they begin in their file. Other events of one time stay
// as they came. An end that binds to the next slice (next_end) stands directly before it; for one
// of its time it waits in memory, while such ends take less than a sixteenth of kRunBytes. Memory:
// twice kRunBytes. Further events are written to nameless files next to `path` and merged from
// there, so that twice the output's size is needed on that disk.
class TimeSorter : public BlockOutput {
 public:
  static constexpr std::size_t kRunBytes = std::size_t{24} << 20;
  // The most files at a time: each is read through a buffer of SortedRun::kBufferBytes.
  static constexpr std::size_t kMaxRuns = 256;

  TimeSorter(Sink& output, std::string path, std::size_t run_bytes = kRunBytes);

  void prepare(EventBlock&) const override {}
  void take(EventBlock& block) override;
  void end_file() override {}
  void finish() override;

 private:
  static constexpr std::size_t kShareOfEnds = 16;
  EventBlock settle_ends(bool waits);
  void write_run(bool is_last);
  void merge_runs();

  Sink& output_;
  std::string path_;
  std::size_t run_bytes_;
  EventBlock gathered_;
  std::vector<SortedRun> runs_;
};

}  // namespace traceloom
