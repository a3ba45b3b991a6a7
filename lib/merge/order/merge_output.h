// The output of a merge: its bytes, and the ways to bring blocks of events into order before
// they are written.
#pragma once

#include "merge/order/event_block.h"
#include "output/file_sink.h"
#include "output/packed_sink.h"
#include "output/sink.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// MergeOutput: writes the merged trace as bytes: plain, or packed in blocks that were compressed in
// parallel.
//
//   MergeOutput output("merged.json.gz", 1);    // or to any Sink
//   output.write(head);
//   if (output.is_packed()) output.write_block(output.compress(events));
//   output.close();

// Behaves as a Sink: without close() nothing is left, and the old output is untouched.
class MergeOutput {
 public:
  // Packs as packing_of_name() says; `level` 0 is the default.
  MergeOutput(const std::string& path, int level, StdoutUse stdout_use = {})
      : path_(path),
        owned_(pack_by_name(open_file_sink(path, stdout_use), path, level)),
        sink_(owned_.get()),
        packed_(dynamic_cast<PackedSink*>(sink_)) {}
  // Writes plain text. `path` names the file that the text becomes a part of.
  MergeOutput(std::unique_ptr<Sink> sink, std::string path)
      : path_(std::move(path)), owned_(std::move(sink)), sink_(owned_.get()) {}
  // `packed` must outlive this object.
  MergeOutput(PackedSink& packed, std::string path)
      : path_(std::move(path)), sink_(&packed), packed_(&packed) {}
  const std::string& path() const { return path_; }
  bool is_packed() const { return packed_ != nullptr; }
  // For packed outputs only. Thread-safe.
  CompressedBlock compress(std::string_view text) const { return packed_->compress(text); }
  void write(std::string_view text) { sink_->write(text); }
  void write_block(const CompressedBlock& block) { packed_->write_block(block); }
  // Leaves out what others write into the file (Sink::leave_gap()); `counted` are checksum and size
  // of the text in the gap, which only packed outputs need.
  FileGap leave_gap(std::uint64_t bytes) { return sink_->leave_gap(bytes); }
  void count_elsewhere(const CompressedBlock& counted) {
    if (packed_ != nullptr) packed_->count_elsewhere(counted);
  }
  void complete() { sink_->complete(); }
  void close() { sink_->close(); }

 private:
  std::string path_;
  std::unique_ptr<Sink> owned_;
  Sink* sink_;
  PackedSink* packed_ = nullptr;  // sink_, if that packs
};

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

  MergeOutput& output() { return *output_; }
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
  std::optional<PackedSink> packed_;
  std::optional<MergeOutput> output_;
};

// Makes room for the parts, one after the other, and counts their text. Returns one gap a part.
std::vector<FileGap> leave_gaps(MergeOutput& output, const std::vector<PartSize>& parts);

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
  explicit OrderWindow(MergeOutput& output) : output_(output) {}

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

  MergeOutput& output_;
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
//   TimeSorter sorter(output);
//   sorter.take(block);  ...  sorter.finish();
//
// Events of one time are sorted by OrderClass; slices (also a B whose end is known) then by length,
// the longest first, by track, and by where they begin in their file. Other events of one time stay
// as they came. An end that binds to the next slice (next_end) stands directly before it; for one
// of its time it waits in memory, while such ends take less than a sixteenth of kRunBytes. Memory:
// twice kRunBytes. Further events are written to nameless files next to the output and merged from
// there, so that twice the output's size is needed on that disk.
class TimeSorter : public BlockOutput {
 public:
  static constexpr std::size_t kRunBytes = std::size_t{24} << 20;
  // The most files at a time: each is read through a buffer of SortedRun::kBufferBytes.
  static constexpr std::size_t kMaxRuns = 256;

  explicit TimeSorter(MergeOutput& output, std::size_t run_bytes = kRunBytes);

  void prepare(EventBlock&) const override {}
  void take(EventBlock& block) override;
  void end_file() override {}
  void finish() override;

 private:
  static constexpr std::size_t kShareOfEnds = 16;
  EventBlock settle_ends(bool waits);
  void write_run(bool is_last);
  void merge_runs();

  MergeOutput& output_;
  std::size_t run_bytes_;
  EventBlock gathered_;
  std::vector<SortedRun> runs_;
};

}  // namespace traceloom
