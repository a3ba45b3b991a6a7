// The TraceHandler that writes Chrome JSON, and what the recorder says of a file at its end.
#pragma once

#include "record/files/trace_file.h"
#include "record/trace_handler.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom::record {

// recorder_json(): what the recorder says of a file at its end: how many events are in it, and how
// many are not.
//
//   sink.metadata({"recorder", recorder_json({.events = 1000, .lost = 24, .error = "..."}), ...});
//
// A program that reads a trace learns from this what is lost (recorder_evidence.h).

struct RecorderCounts {
  std::uint64_t events = 0;     // in the file
  std::uint64_t dropped = 0;    // found no room in memory
  bool is_ring = false;         // dropped ones were meant to make room: a flight recorder
  std::uint64_t lost = 0;       // recorded, but the file could not have them
  std::uint64_t unnamed = 0;    // part of `events`: their markers have lost their names
  std::uint64_t recovered = 0;  // part of `events`: from a journal
  std::uint64_t damaged = 0;    // could not be read in a journal
  std::string error = {};       // why the file could not have the lost ones
  std::optional<std::int64_t> clock_error_ns = {};
};

// Returns {"events":1000,"dropped":0,"lost":24,"error":"No space left on
// device","clock_error_ns":7}.
std::string recorder_json(const RecorderCounts& counts);

// Returns an event in the caller's texts.
inline MetadataEvent metadata_of(const char* name, const std::string& args_json, std::int64_t at_ns,
                                 std::int64_t tid) {
  return {sizeof(MetadataEvent), name, args_json.c_str(), tid, at_ns};
}

// JsonSink: the TraceHandler that writes Chrome JSON, one file a cycle.
//
// The text is `[`, an event, `,\n` and an event, and so on, `\n]`. Viewers and trace-merge can read
// it even if it is cut anywhere between two events. The text that events of a marker share is
// escaped once.

struct JsonSinkOptions {
  int gzip_level = 1;
  bool overwrite = false;
  NextPath next_path = {};  // for a cycle whose path somebody else took first
  Naming naming = Naming::with_text;
};

class JsonSink : public TraceHandler {
 public:
  explicit JsonSink(JsonSinkOptions options) : options_(std::move(options)) {}

  // All functions throw Error if the file cannot be written. On a full disk the file ends with a
  // whole event, less than kPieceBytes and kEndBytes before the place where room ran out. What
  // comes after that is lost, and write_end() has the room to say so.
  void begin_cycle(const CycleInfo& cycle) override;
  void duration(const DurationEvent& event) override { write_duration(event, 1); }
  void instant(const InstantEvent& event) override;
  void counter(const CounterEvent& event) override;
  void metadata(const MetadataEvent& event) override;
  void external_trace(const std::string& path) override;
  void flush() override;
  // Writes what is said of the whole cycle, and the end of the file. Room was kept for that; if
  // there is none all the same, take_back() makes some.
  void write_end(const std::vector<MetadataEvent>& last);
  // Drops a file without any text: nothing of it is left.
  void drop_file() { file_.reset(); }
  // Takes the last write off the file and returns how many events it had. Then write_end() may be
  // tried again. Returns nullopt, and takes nothing, if that write was the first of the file, or if
  // kEndBytes have been taken off already.
  std::optional<std::uint64_t> take_back();
  // Gives the file the name that `cycle` has, or if that exists and must not be overwritten, one
  // with a number.
  void end_cycle(const CycleInfo& cycle) override;

  // Goes on with a file that another process has begun. Throws Error.
  void resume(const CycleInfo& cycle, const FileState& state);

  // Writes the end of a slice that goes on after this file; DurationEvent::cut_id identifies the
  // slice. It counts as no event.
  void cut(const DurationEvent& event) { write_duration(event, 0); }

  bool has_file() const { return file_ != nullptr; }
  // Returns whether there is enough text to be worth a write.
  bool wants_flush() const { return used_ >= kFlushBytes; }
  const FileState& state() const { return file_->state(); }
  const std::string& final_path() const { return final_path_; }
  // Returns how many events were handed over since the last flush; if that has failed, how many are
  // lost.
  std::uint64_t pending_events() const { return pending_events_; }
  std::uint64_t bytes_written() const { return bytes_written_; }
  // Counter events that are not written, because JSON has no form for any of their values (NaN,
  // infinity): how many since the last call, and the counter of the last one.
  struct LeftOut {
    std::uint64_t events = 0;
    std::string counter;
  };
  LeftOut take_left_out() { return std::exchange(left_out_, {}); }

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{1} << 20;
  static constexpr std::size_t kPieceBytes = std::size_t{4} << 10;
  // A place in the buffer, after a whole event.
  struct PieceEnd {
    std::size_t bytes = 0;
    std::uint64_t events = 0;  // pending by then
  };

  void forget_file(std::int64_t rank);
  template <typename Event>
  const std::string& head(const Event& event);
  const std::vector<std::size_t>& written_keys(const CounterEvent& event);
  void update_tail(std::int64_t tid, std::uint32_t epoch, std::uint32_t batch);
  char* put_tail(char* out, std::string_view args_json) const;
  char* room(std::size_t bytes);
  void write_duration(const DurationEvent& event, std::uint64_t count);
  template <typename Event>
  char* begin_event(const Event& event, std::string_view phase, std::int64_t ns,
                    std::size_t more_bytes);
  void append(std::string_view json, std::uint64_t events);
  // `events` is 0 for text that describes other events and is none itself.
  void end_event(char* end, std::uint64_t events = 1);
  void write_pieces();
  void write(std::string_view text, std::uint64_t events);
  char* write_time(char* out, std::int64_t ns);

  JsonSinkOptions options_;
  std::int64_t rank_ = 0;
  std::unique_ptr<TraceFile> file_;
  std::string final_path_;
  bool is_first_ = true;
  bool is_ended_ = false;  // the list has its end
  // The state of the file before a write, and how many events that write had.
  struct LastWrite {
    FileState before;
    std::uint64_t events = 0;
  };
  std::deque<LastWrite> last_writes_;  // as many as have kEndBytes together; the newest is last
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::vector<PieceEnd> pieces_;
  std::uint64_t pending_events_ = 0;
  std::uint64_t bytes_written_ = 0;
  LeftOut left_out_;
  // Index: label; ,\n{"name":"...","cat":"...".
  std::vector<std::string> heads_;
  std::vector<std::vector<std::size_t>> written_keys_;  // index: label; the last of equal keys
  // ,"pid":R,"tid":T,"args":{"epoch":E,"batch":B}} of the last event.
  std::string tail_;
  std::int64_t tail_tid_ = -1;
  std::uint64_t tail_position_ = 0;
  // The digits of the last time before its last 10^8 microseconds.
  std::int64_t high_ = -1;
  std::string high_text_;
};

}  // namespace traceloom::record
