// Event: one element of a trace's event list, as views into the text from which it was read.
//
//   if (event.phase == 'X') std::string_view duration = event.text(Key::dur);   // "12.345"
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// The keys of an event that our code reads. All other keys stay in `raw`, untouched.
enum class Key : std::uint8_t {
  name,
  cat,
  ph,
  ts,
  dur,
  pid,
  tid,
  id,
  id2,
  bind_id,
  scope,
  args,
  s,
  unclosed,
  tts,
  tdur,
  sf,
  esf,
  flow_in,
  flow_out,
  cname,
  cut_id,
  count_  // the number of keys, not a key
};
inline constexpr std::size_t kKeyCount = static_cast<std::size_t>(Key::count_);

constexpr std::string_view key_name(Key key) {
  constexpr std::array<std::string_view, kKeyCount> kNames{
      "name", "cat",     "ph",      "ts",       "dur",   "pid",      "tid", "id",
      "id2",  "bind_id", "scope",   "args",     "s",     "unclosed", "tts", "tdur",
      "sf",   "esf",     "flow_in", "flow_out", "cname", "cut_id"};
  return kNames[static_cast<std::size_t>(key)];
}

// Half-open range of a value in Event::raw.
struct FieldRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// Facts that the scanner noticed about the text of an event and on which a writer has to act.
struct EventFlags {
  bool strict : 1 = false;  // the text is strict JSON, no key of args stands twice, and no other
                            // flag is set, so the text may be copied. Some such texts lack the flag
  bool duplicate_key : 1 = false;  // a key of enum Key stands twice; the range is the last one's
  bool escaped_key : 1 = false;    // a key is written with escapes ("\u0070h")
  bool loose_syntax : 1 =
      false;  // a comma before '}', or a plain value that JSON does not have (NaN, 0x10)
  bool suspect_text : 1 = false;  // the text holds a backslash, a control character in a string or
                                  // a byte >= 0x80, so a writer has to check it before it copies it
  bool nested_value : 1 = false;  // a key outside enum Key has an object or a list as value, which
                                  // the scanner did not check
};

// Every view is valid as long as the text from which the event was read (for EventScanner: its
// window).
struct Event {
  std::string_view raw;      // the whole event, from '{' to '}'
  std::uint64_t offset = 0;  // offset of `raw` in the uncompressed text of the file, in bytes
  char phase = 0;            // first character of ph; 0 if ph is absent, empty or no string
  EventFlags flags;
  std::uint32_t present = 0;  // one bit a key, set if its entry in `fields` is valid
  std::array<FieldRange, kKeyCount> fields;

  static constexpr std::uint32_t bit(Key key) { return 1U << static_cast<unsigned>(key); }
  bool has(Key key) const { return (present & bit(key)) != 0; }
  void set(Key key, std::size_t begin, std::size_t end) {
    flags.duplicate_key |= has(key);
    present |= bit(key);
    fields[static_cast<std::size_t>(key)] = {static_cast<std::uint32_t>(begin),
                                             static_cast<std::uint32_t>(end)};
  }
  // Returns an empty range if the key is absent.
  FieldRange range(Key key) const {
    return has(key) ? fields[static_cast<std::size_t>(key)] : FieldRange{};
  }
  // Returns the JSON text of the value (strings with their quotes), or empty if the key is absent.
  std::string_view text(Key key) const {
    const FieldRange r = range(key);
    return {raw.data() + r.begin, r.end - r.begin};
  }
};

constexpr bool is_json_string(std::string_view value) {
  return !value.empty() && value.front() == '"';
}

// Returns the text between the quotes of a string value, or the value itself if it is no string.
constexpr std::string_view unquoted(std::string_view value) {
  return is_json_string(value) && value.size() >= 2 ? value.substr(1, value.size() - 2) : value;
}

// Returns the characters of a string value as UTF-8 (escapes decoded), or another value as written.
std::string decoded(std::string_view value);

// Returns one spelling for values that both viewers take for the same pid or tid: 7, 7.0, 7e0 and
// "7" all give "7" (a number without quotes). Other strings keep their quotes: "\"Spans\"". An
// absent value and null give an empty text.
std::string canonical_id(std::string_view value);

// Parses a whole number, also in quotes or written as 7.0.
std::optional<std::int64_t> json_integer(std::string_view value);

// label_text: name and category of an event as one text that can be looked up.
//
//   std::string scratch;
//   std::uint32_t number = labels.intern(label_text(event, scratch));

// Returns the value if it is a string, otherwise an empty view.
std::string_view string_or_nothing(std::string_view value);

// Returns the text that identifies the event's name and category. Most producers write one after
// the other; the text is then the piece of the event that holds both, and nothing is copied.
// Otherwise it is put together in `scratch`. Equal texts mean equal names and categories, but one
// pair may have several texts.
std::string_view label_text(const Event& event, std::string& scratch);

// An event belongs to the host or to a kind of row of a device.

// DeviceRow: the kind of events on a row, found by the names of its process and its thread.
// Producers that give events no category (JAX and all of XLA, Ascend) name the kind there.
//
//   find_device_row("/device:GPU:0", "Stream #13(Compute)").use == RowUse::work
//   find_device_row("python3", "").use == RowUse::host
//   find_device_row("NPU 3", "").use == RowUse::unknown
//
// Scripts around CUPTI name no rows: find_row_by_spans() tells their devices by what is on a row.
//
// The table is in event.cpp. To teach all commands another producer, add its rows there, and
// the kinds of its events in lib/run/event_class.cpp.

enum class RowMaker : std::uint8_t {
  none,
  xla,
  ascend,
  autograd,  // torch 1.0 to 1.7, and torch.autograd.profiler of later versions
  cupti,     // scripts that write what CUPTI and nsys report
};

enum class RowUse : std::uint8_t {
  host,
  calls,          // calls of the device's runtime, made by the host
  work,           // work of a device
  transfers,      // copies and collectives that run next to the work; every other event there is a
                  // copy
  communication,  // collectives of a device
  steps,          // each span is one step
  copy,           // a repetition of what other rows of the process show
  check,          // results that the producer computed from other rows
  unknown,        // looks like a device, but no rule knows what it holds
};

struct DeviceRow {
  RowUse use = RowUse::host;
  RowMaker maker = RowMaker::none;
  // Rows of one process with different levels show the same time. Only the rows of the highest
  // level that has events count.
  std::uint8_t level = 0;
  bool is_nested = false;   // spans of the row are parts of other spans, inside which they lie
  bool is_program = false;  // its spans are whole programs, which may do anything
};

// Whether spans of the row stand for something of a device, and not of its host: work, copies of
// it, steps. Nobody knows it of rows that are not understood.
constexpr bool is_on_device(const DeviceRow& row) {
  return row.use != RowUse::host && row.use != RowUse::calls && row.use != RowUse::unknown;
}

// The names are the decoded names of the file; either may be empty.
DeviceRow find_device_row(std::string_view process, std::string_view thread);

// SpanNames: what the names of the spans of one row, which have no known category, tell about it.
struct SpanNames {
  bool any_copies = false;  // a span is a copy or a fill of a device: "[MEMCPY] HtoD"
  bool all_kernels = true;  // every span looks like a kernel: "void at::native::...<4, ...>(...)"

  void add(std::string_view name);
};

// Returns the row of a device if the names tell that it is one; otherwise a row of the host.
DeviceRow find_row_by_spans(const SpanNames& names);

// True for names of devices: "/device:TPU:0", "NPU 3", "Gaudi accelerator". False for "GPU
// Process", which is a process of a browser.
bool looks_like_device(std::string_view process);

// True for processes of the table, whatever their threads are called.
bool is_named_device(std::string_view process);

// Returns 3 for "/device:GPU:3" and "Device 3", nullopt if the name has another form.
std::optional<std::int32_t> device_number(std::string_view process);
// Returns 13 for "Stream #13(Compute)" and "Stream 13".
std::optional<std::int32_t> stream_number(std::string_view thread);

// EventSide: whether an event belongs to the host or to a device. Profilers give a range of the
// host and its copy on the device's rows the same name; only their categories differ,
// or, if the producer writes none, their rows (DeviceRow).
//
//   event_side("user_annotation") == EventSide::host
//   event_side("gpu_user_annotation") == EventSide::device

enum class EventSide : std::uint8_t { host, device };

// The categories of torch.profiler, in lower case, whose events stand on rows of a device: work of
// the device, copies of host ranges, waits of streams, marks of the profiler.
inline constexpr std::string_view kDeviceCategories[] = {
    "kernel",          "concurrent_kernel",   "mtia_ccp_events",
    "hpu_op",          "privateuse1_kernel",  "gpu_memcpy",
    "memcpy",          "gpu_memset",          "memset",
    "collective_comm", "gpu_user_annotation", "cuda_sync",
    "cuda_event",      "cuda_profiler_range", "mtia_insight",
};

// A device runs work of these categories on streams, of each stream one launch after the other.
// (HPUs and MTIA show programs with their parts.)
inline constexpr std::string_view kStreamCategories[] = {
    "kernel", "concurrent_kernel", "privateuse1_kernel", "gpu_memcpy", "memcpy", "gpu_memset",
    "memset"};

// `category` is one category, in lower case.
constexpr bool is_device_category(std::string_view category) {
  return std::find(std::begin(kDeviceCategories), std::end(kDeviceCategories), category) !=
         std::end(kDeviceCategories);
}

// `category` is the event's own: letters of any case, possibly empty or a comma list. One element
// of the list is enough.
EventSide event_side(std::string_view category);

}  // namespace traceloom
