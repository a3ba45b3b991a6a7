// The events that analyses use as columns of numbers, and the facts that are read from their
// args.
#pragma once

#include "base/packed_rows.h"
#include "base/string_table.h"
#include "run/event_class.h"
#include "run/intervals.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// Samples: amounts at a moment, from torch's "[memory]" instants and from counters.
//
//   if (const auto sample = read_memory_sample(event.text(Key::args))) use(sample->bytes);

// The value of an address or total that the event does not have.
inline constexpr std::int64_t kNotGiven = std::numeric_limits<std::int64_t>::min();

// Memory that an allocator of torch allocated or freed.
struct MemorySample {
  std::int64_t start_ns = 0;
  std::uint32_t track = 0;       // number in Tracks of the thread that asked for it
  std::int32_t device_type = 0;  // torch's number of the type
  std::int64_t device = -1;      // -1 for the host
  std::int64_t bytes = 0;        // bytes allocated; negative if freed
  std::int64_t address = kNotGiven;
  std::int64_t allocated = kNotGiven;  // bytes allocated on the device in all, including this
  std::int64_t reserved = kNotGiven;
};

// One value of a counter event (C).
struct CounterSample {
  std::int64_t start_ns = 0;
  std::uint32_t label = 0;  // number in Labels
  std::uint32_t track = 0;  // number in Tracks
  std::uint32_t key = 0;    // number in Run::details of the value's key in the event's args
  double value = 0;
};

inline constexpr std::string_view kMemoryEvent = "[memory]";

// Reads the args of a "[memory]" instant; nullopt if they do not give the bytes.
std::optional<MemorySample> read_memory_sample(std::string_view args);

// Reads a number, also in quotes, that can be added up: at most 1e100.
std::optional<double> read_counter_value(std::string_view value);

// Returns "CPU", "GPU0" (CUDA and ROCm), "XPU1", or "device 42:0" for a type without a name here.
std::string memory_device_name(std::int32_t type, std::int64_t device);

// Details: the facts that the args of device work give besides its time, as one text.
//
//   std::string_view grid = find_detail(run.details[span.detail], "grid");       // "[32, 1, 1]"
//
// All work of one kernel with one launch configuration has the same text, so there are few texts.

// True for the keys of launch configuration, occupancy, bytes and bandwidth of copies, and of
// collectives.
bool is_detail(std::string_view key);

// True for the keys by which Ascend describes a collective: the type and number of its elements.
bool is_transfer_detail(std::string_view key);

// True for the arguments of an operator: "Input Dims", "Input type", "Input Strides", "Concrete
// Inputs".
bool is_argument(std::string_view key);

// True for the keys that number an operation of a coarse time line within its step.
bool is_operation_detail(std::string_view key);

// The key of the shapes of an operator's arguments.
inline constexpr std::string_view kShapes = "Input Dims";

// Appends `value` as it is written in the file, but lists with uniform white space.
void append_detail(std::string& text, std::string_view key, std::string_view value);

// Returns the value as it is written, strings without their quotes; empty if there is none.
std::string_view find_detail(std::string_view text, std::string_view key);
std::optional<double> find_number(std::string_view text, std::string_view key);
std::optional<std::int64_t> find_integer(std::string_view text, std::string_view key);

// The same facts of one text, which is split only once. It is for those who ask for many of them:
// the 13 questions about one collective took 22 % of `bottleneck` when each searched the text.
// Values are views into the text.
//
//   const Details details(run.details[span.detail]);
//   std::string_view dtype = details.find("dtype");
class Details {
 public:
  explicit Details(std::string_view text);

  std::string_view find(std::string_view key) const;
  std::optional<std::int64_t> find_integer(std::string_view key) const;

 private:
  struct Entry {
    std::string_view key;
    std::string_view value;
  };
  // The array has room for all keys that is_detail() knows. Further ones stay in rest_, which
  // find() searches.
  std::array<Entry, 24> entries_;
  std::size_t size_ = 0;
  std::string_view rest_;
};

// EventColumns: the events that analyses use, as rows of numbers; the texts are in tables.
//
//   for (const DeviceSpan& span : columns.devices) busy.push_back(span.interval());

// Means that a correlation, external id, step, epoch or device is not known.
inline constexpr std::int64_t kNoId = -1;
inline constexpr std::int32_t kNoEpoch = -1;

struct HostSpan {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t label;  // number in Labels
  std::uint32_t track;  // number in Tracks

  Interval interval() const { return {start_ns, end_ns}; }
};

// A call of the runtime; `correlation` is the id that the launched work also has.
struct CallSpan : HostSpan {
  std::int64_t correlation;
  std::int64_t external;
};

struct DeviceSpan : HostSpan {
  std::int64_t correlation;
  std::int64_t external;
  std::int32_t device;   // device of the event, otherwise that of its row
  std::int32_t stream;   // kNoId if the event names none
  std::uint32_t detail;  // number in Run::details; set for collectives, and for all work if details
                         // are wanted
};
inline constexpr std::uint32_t kNoDetail = ~std::uint32_t{0};

// An operator of torch. With RunRequest::has_operators() operators have a column of their own,
// otherwise they are among `hosts`.
struct OperatorSpan : HostSpan {
  std::int64_t external;
  std::uint32_t arguments;  // number in Run::details, if arguments are wanted
};

// A span that marks steps or parts of them, or a call of a torch module. Unless it is a step or a
// module, it is also among `hosts`.
struct MarkedSpan : HostSpan {
  // For a step: N of ProfilerStep#N. If is_of_collective(): the External id. For an operation: its
  // step. Otherwise: Composer's batch at the begin of the span.
  std::int64_t number;
  std::int32_t epoch;  // epoch of Composer
  SpanMark mark;
  bool is_merged;  // an X of Composer that a merge made of B and E, so that its batch is that of
                   // the end
  std::uint32_t arguments =
      kNoDetail;  // if has_arguments(): number in Run::details of its tensors,
                  // or of what numbers an operation
};

// A span whose meaning depends on its row (is_known_by_row()). It is resolved after the file has
// been read.
struct RowSpan : HostSpan {
  std::int64_t correlation;  // id shared with a launch or a piece of device work, whatever its key
                             // is called
  std::int64_t step;         // step_num of JAX
  std::int32_t device;       // kNoId if the event names none
  std::int32_t stream;       // kNoId if the event names none
  bool has_category;
  // Number in Run::details; set for collectives of Ascend (is_transfer_detail()).
  std::uint32_t detail = kNoDetail;
};

// One end of an arrow of torch from a call of the runtime to the work that it launched ("ac2g").
struct ArrowEnd {
  std::int64_t start_ns;
  std::int64_t id;
  std::uint32_t track;  // number in Tracks
  bool is_end;

  friend auto operator<=>(const ArrowEnd& a, const ArrowEnd& b) {
    return std::tie(a.is_end, a.track, a.start_ns, a.id) <=>
           std::tie(b.is_end, b.track, b.start_ns, b.id);
  }
  friend bool operator==(const ArrowEnd&, const ArrowEnd&) = default;
};

// The spans of a row that looks like a device's but is not understood.
struct UnknownSpans {
  std::uint32_t track = 0;   // number in Tracks
  std::uint32_t detail = 0;  // number in Run::details of "process", "thread", "category"
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  // No row of its process is understood, so nothing is known about that device.
  bool is_whole_device = false;
};

template <>
struct RowCodec<HostSpan> {
  static constexpr std::size_t kMostBytes = 4 * kMostNumberBytes;

  static void write(PackedWriter& to, const HostSpan& before, const HostSpan& row) {
    const std::int64_t later_ns = wrapped_difference(row.start_ns, before.start_ns);
    const std::int64_t length_ns = wrapped_difference(row.end_ns, row.start_ns);
    const std::int64_t unit = unit_of(later_ns, length_ns);
    const bool other_track = row.track != before.track;
    to.number(std::uint64_t{row.label} << 2 | (other_track ? 2U : 0U) | (unit == 1 ? 0U : 1U));
    if (other_track) to.number(row.track);
    to.signed_number(later_ns / unit);
    to.signed_number(length_ns / unit);
  }
  static void read(PackedReader& from, HostSpan& row) {
    const std::uint64_t head = from.number();
    const std::int64_t unit = (head & 1) == 0 ? 1 : 1000;
    row.label = static_cast<std::uint32_t>(head >> 2);
    if ((head & 2) != 0) row.track = static_cast<std::uint32_t>(from.number());
    row.start_ns = wrapped_sum(row.start_ns, from.signed_number() * unit);
    row.end_ns = wrapped_sum(row.start_ns, from.signed_number() * unit);
  }
};

template <>
struct RowCodec<RowSpan> {
  static constexpr std::size_t kMostBytes =
      RowCodec<HostSpan>::kMostBytes + 1 + 5 * kMostNumberBytes;

  static void write(PackedWriter& to, const RowSpan& before, const RowSpan& row) {
    RowCodec<HostSpan>::write(to, before, row);
    const bool other_place = row.device != before.device || row.stream != before.stream;
    to.byte(static_cast<std::uint8_t>((row.has_category ? 1U : 0U) |
                                      (row.correlation != kNoId ? 2U : 0U) |
                                      (row.step != kNoId ? 4U : 0U) | (other_place ? 8U : 0U) |
                                      (row.detail != kNoDetail ? 16U : 0U)));
    if (row.correlation != kNoId) to.signed_number(row.correlation);
    if (row.step != kNoId) to.signed_number(row.step);
    if (row.detail != kNoDetail) to.number(row.detail);
    if (!other_place) return;
    to.signed_number(row.device);
    to.signed_number(row.stream);
  }
  static void read(PackedReader& from, RowSpan& row) {
    RowCodec<HostSpan>::read(from, row);
    const unsigned head = from.byte();
    row.has_category = (head & 1) != 0;
    row.correlation = (head & 2) != 0 ? from.signed_number() : kNoId;
    row.step = (head & 4) != 0 ? from.signed_number() : kNoId;
    row.detail = (head & 16) != 0 ? static_cast<std::uint32_t>(from.number()) : kNoDetail;
    if ((head & 8) == 0) return;
    row.device = static_cast<std::int32_t>(from.signed_number());
    row.stream = static_cast<std::int32_t>(from.signed_number());
  }
};

template <>
struct RowCodec<MarkedSpan> {
  static constexpr std::size_t kMostBytes =
      RowCodec<HostSpan>::kMostBytes + 1 + 3 * kMostNumberBytes;

  static void write(PackedWriter& to, const MarkedSpan& before, const MarkedSpan& row) {
    RowCodec<HostSpan>::write(to, before, row);
    const bool other_epoch = row.epoch != before.epoch;
    to.byte(static_cast<std::uint8_t>(static_cast<unsigned>(row.mark) << 2 |
                                      (row.is_merged ? 2U : 0U) | (other_epoch ? 1U : 0U)));
    to.signed_number(wrapped_difference(row.number, before.number));
    if (other_epoch) to.signed_number(row.epoch);
    if (has_arguments(row.mark)) to.number(row.arguments + 1U);
  }
  static void read(PackedReader& from, MarkedSpan& row) {
    RowCodec<HostSpan>::read(from, row);
    const unsigned head = from.byte();
    row.mark = static_cast<SpanMark>(head >> 2);
    row.is_merged = (head & 2) != 0;
    row.number = wrapped_sum(row.number, from.signed_number());
    if ((head & 1) != 0) row.epoch = static_cast<std::int32_t>(from.signed_number());
    row.arguments =
        has_arguments(row.mark) ? static_cast<std::uint32_t>(from.number()) - 1U : kNoDetail;
  }
};

// The number of events of each phase, by its letter.
using PhaseCounts = std::array<std::uint64_t, 128>;

struct RunRequest;

// The columns of spans. Marks are beside them: a step, or another mark, may be in none of these.
enum class SpanColumn : std::uint8_t {
  none,
  spans,
  hosts,
  operators,
  frames,
  python,
  calls,
  devices
};

// Returns the column in which spans of the kind are, unless their rows say more
// (is_known_by_row()). It is the only rule for that.
SpanColumn column_of(const EventClass& kind, std::int64_t duration_ns, const RunRequest& request);

// Calls change(row) for each row, and removes those for which it returns false.
template <typename Row, typename Change>
void rewrite(std::vector<Row>& rows, Change change) {
  auto kept = rows.begin();
  for (Row& row : rows)
    if (change(row)) *kept++ = row;
  rows.erase(kept, rows.end());
}
template <typename Row, typename Change>
void rewrite(PackedRows<Row>& rows, Change change) {
  rows.rewrite(change);
}

struct EventColumns {
  std::size_t file = 0;  // file number as in Tracks::file(); ids are unique only within a file
                         // (run/launches.h)
  PackedRows<HostSpan> spans = {};  // filled only if all spans are wanted, and then almost alone
  PackedRows<HostSpan> hosts;
  std::vector<OperatorSpan> operators;
  std::vector<HostSpan> frames;
  // With both kinds of frames wanted: all of them, while `frames` are those of Python alone.
  PackedRows<HostSpan> all_frames = {};
  std::vector<CallSpan> calls;
  std::vector<DeviceSpan> devices;
  PackedRows<MarkedSpan> marks;
  std::vector<UnknownSpans> unknown;
  std::vector<MemorySample> memory;  // memory and counters are filled only if samples are wanted
  std::vector<CounterSample> counters;
  // Calls outside the selection that launched selected device work; only Launches uses them.
  std::vector<CallSpan> calls_outside = {};
  // Spans that move to the columns above once the file has been read to its end.
  PackedRows<RowSpan> on_rows = {};
  // Until then: arrows at calls and work without a correlation (run/launches.h).
  std::vector<ArrowEnd> arrows = {};

  // Adds a span of the column `frames` or `python`.
  void add_frame(const HostSpan& span, SpanColumn column, const RunRequest& request);
  // Calls use(rows) for each column of kEventColumns.
  template <typename Use>
  void for_each_column(Use use);
  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    wire(file);
    for_each_column([&](auto& rows) { wire(rows); });
  }
  bool empty() const { return rows() == 0; }
  std::size_t rows() const;
  void shrink_to_fit() {
    for_each_column([](auto& rows) { rows.shrink_to_fit(); });
  }
  void clear() {
    for_each_column([](auto& rows) { rows.clear(); });
  }
};

// All columns but calls_outside.
inline constexpr std::tuple kEventColumns(&EventColumns::spans, &EventColumns::hosts,
                                          &EventColumns::operators, &EventColumns::frames,
                                          &EventColumns::all_frames, &EventColumns::calls,
                                          &EventColumns::devices, &EventColumns::marks,
                                          &EventColumns::unknown, &EventColumns::memory,
                                          &EventColumns::counters, &EventColumns::on_rows,
                                          &EventColumns::arrows);

template <typename Use>
void EventColumns::for_each_column(Use use) {
  std::apply([&](auto... column) { (use(this->*column), ...); }, kEventColumns);
}

inline std::size_t EventColumns::rows() const {
  return std::apply([&](auto... column) { return ((this->*column).size() + ...); }, kEventColumns);
}

// The numbers of texts in other tables, by their numbers in these.
struct Renumbering {
  std::vector<std::uint32_t> labels;
  std::vector<std::uint32_t> tracks;
  std::vector<std::uint32_t> details;

  void operator()(HostSpan& span) const {
    span.label = labels[span.label];
    span.track = tracks[span.track];
  }
  void operator()(OperatorSpan& span) const { change(span, span.arguments); }
  void operator()(DeviceSpan& span) const { change(span, span.detail); }
  void operator()(MarkedSpan& span) const { change(span, span.arguments); }
  void operator()(RowSpan& span) const { change(span, span.detail); }
  void operator()(UnknownSpans& spans) const {
    spans.track = tracks[spans.track];
    change_detail(spans.detail);
  }
  void operator()(ArrowEnd& end) const { end.track = tracks[end.track]; }
  void operator()(MemorySample& sample) const { sample.track = tracks[sample.track]; }
  void operator()(CounterSample& sample) const {
    sample.label = labels[sample.label];
    sample.track = tracks[sample.track];
    change_detail(sample.key);
  }

 private:
  void change(HostSpan& span, std::uint32_t& detail) const {
    (*this)(span);
    change_detail(detail);
  }
  void change_detail(std::uint32_t& detail) const {
    if (detail != kNoDetail) detail = details[detail];
  }
};

// Stands for no label.
inline constexpr std::uint32_t kNoLabel = ~std::uint32_t{0};

// The distinct names and categories of events, with their meaning. Not thread-safe.
class Labels {
 public:
  // Name and category are decoded texts.
  std::uint32_t intern(std::string_view name, std::string_view category);
  // Adds a label whose meaning does not follow from name and category alone.
  std::uint32_t intern(std::string_view name, std::string_view category, const EventClass& kind);
  // Makes labels after the first `most` one for each kind of event, "(other names)".
  void limit(std::size_t most) { most_ = most; }
  bool has_others() const { return has_others_; }

  std::size_t size() const { return entries_.size(); }
  // The number of different names and categories.
  std::size_t texts() const { return texts_.size(); }
  std::string_view name(std::uint32_t label) const { return texts_[entries_[label].name]; }
  std::string_view category(std::uint32_t label) const { return texts_[entries_[label].category]; }
  const EventClass& kind(std::uint32_t label) const { return entries_[label].kind; }

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(texts_, pairs_, entries_, has_others_); }

 private:
  struct Entry {
    std::uint32_t name;
    std::uint32_t category;
    EventClass kind;
  };

  bool is_known(std::string_view name, std::string_view category) const;
  std::uint32_t intern_special(std::string_view name, std::string_view category,
                               const EventClass& kind);
  std::uint32_t intern_other(const EventClass& kind);

  StringTable texts_;
  StringTable pairs_;
  std::vector<Entry> entries_;
  std::size_t most_ = ~std::size_t{0};
  bool has_others_ = false;
};

// The distinct rows (file, pid, tid) of events. Not thread-safe.
class Tracks {
 public:
  // `pid` and `tid` are the results of canonical_id().
  std::uint32_t intern(std::size_t file, std::string_view pid, std::string_view tid);

  std::size_t size() const { return entries_.size(); }
  std::size_t file(std::uint32_t track) const { return entries_[track].file; }
  std::string_view pid(std::uint32_t track) const { return texts_[entries_[track].pid]; }
  std::string_view tid(std::uint32_t track) const { return texts_[entries_[track].tid]; }
  // True if the names of the row say that it is one of a device.
  bool is_device_row(std::uint32_t track) const { return entries_[track].is_device_row; }
  void mark_device_row(std::uint32_t track) { entries_[track].is_device_row = true; }

  auto wired() { return std::tie(texts_, keys_, entries_); }

 private:
  struct Entry {
    std::size_t file;
    std::uint32_t pid;
    std::uint32_t tid;
    bool is_device_row = false;
  };

  StringTable texts_;
  StringTable keys_;
  std::vector<Entry> entries_;
};

struct RunTexts {
  Labels labels;
  Tracks tracks;
  StringTable details;  // texts for find_detail(); keys of counters
};

}  // namespace traceloom
