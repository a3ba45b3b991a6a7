#include "run/event_columns.h"

#include "base/ascii.h"
#include "base/json_walk.h"
#include "event/event.h"
#include "run/run.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace traceloom {
namespace {

struct DeviceName {
  std::int32_t type;
  std::string_view name;
};
constexpr DeviceName kDeviceNames[] = {{1, "GPU"},  {6, "GPU"},  {9, "XLA"},   {12, "XPU"},
                                       {13, "MPS"}, {15, "HPU"}, {19, "MTIA"}, {20, "NPU"}};

// No device has more memory; a larger number is no amount, and sums have room for this one.
constexpr double kMostValue = 1e100;  // larger values overflow in sums and units
constexpr std::int64_t kMostBytes = std::int64_t{1} << 48;

std::int64_t read_bytes(const JsonWalk& walk) {
  const std::int64_t bytes = json_integer(walk.value()).value_or(kNotGiven);
  return -kMostBytes < bytes && bytes < kMostBytes ? bytes : kNotGiven;
}

}  // namespace

std::optional<MemorySample> read_memory_sample(std::string_view args) {
  MemorySample sample;
  sample.bytes = kNotGiven;
  for (JsonWalk walk(args); walk.next();) {
    if (walk.key() == "Bytes") sample.bytes = read_bytes(walk);
    if (walk.key() == "Addr") sample.address = json_integer(walk.value()).value_or(kNotGiven);
    if (walk.key() == "Total Allocated") sample.allocated = read_bytes(walk);
    if (walk.key() == "Total Reserved") sample.reserved = read_bytes(walk);
    if (walk.key() == "Device Type")
      sample.device_type =
          static_cast<std::int32_t>(json_integer(walk.value()).value_or(0) & 0xffff);
    if (walk.key() == "Device Id") sample.device = json_integer(walk.value()).value_or(-1);
  }
  if (sample.bytes == kNotGiven) return std::nullopt;
  return sample;
}

std::optional<double> read_counter_value(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
  const auto number = whole_number<double>(value);
  return number && std::abs(*number) <= kMostValue ? number : std::nullopt;
}

std::string memory_device_name(std::int32_t type, std::int64_t device) {
  if (type == 0) return "CPU";
  for (const DeviceName& known : kDeviceNames)
    if (known.type == type) return std::string(known.name) + std::to_string(device);
  return "device " + std::to_string(type) + ":" + std::to_string(device);
}

namespace {

// These stand after a key and after its value: neither character occurs raw in a string of JSON.
constexpr char kBehindKey = '\t';
constexpr char kBehindValue = '\n';

// Leaves out separators in a value, which would end it. Pretty-printed JSON contains them, and so
// do strings that are not JSON.
void append_line(std::string& text, std::string_view value) {
  for (const char c : value)
    if (c != kBehindKey && c != kBehindValue) text += c;
}

// Writes "[4, 1, 1]" whatever white space is between the elements, so that equal lists have equal
// texts. White space in strings (["long int"]) stays.
void append_list(std::string& text, std::string_view list) {
  const std::size_t old_size = text.size();
  text.resize(old_size + 2 * list.size());  // a space behind each comma
  char* end = text.data() + old_size;
  bool in_string = false;
  for (const char c : list) {
    if (c == '"') in_string = !in_string;
    if (in_string && c != kBehindKey && c != kBehindValue) {
      *end++ = c;
      continue;
    }
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    *end++ = c;
    if (c == ',') *end++ = ' ';
  }
  text.resize(static_cast<std::size_t>(end - text.data()));
}

// Removes a key and its value from the front of `text`. The value begins with kBehindKey; it is
// empty if that is missing.
std::pair<std::string_view, std::string_view> take_pair(std::string_view& text) {
  const std::size_t middle = std::min(text.find(kBehindKey), text.size());
  const std::size_t end = std::min(text.find(kBehindValue, middle), text.size());
  const std::pair pair(text.substr(0, middle), text.substr(middle, end - middle));
  text.remove_prefix(std::min(end + 1, text.size()));
  return pair;
}

std::string_view without_quotes(std::string_view value) {
  const bool has_quotes = value.size() >= 2 && value.front() == '"';
  return has_quotes ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

bool is_detail(std::string_view key) {
  return is_any_of(key, "grid", "block", "registers per thread", "shared memory", "blocks per SM",
                   "est. achieved occupancy %", "bytes", "size", "direction",
                   "memory bandwidth (GB/s)", "Collective name", "dtype", "In msg nelems",
                   "Out msg nelems", "Group size", "Process Group Name",
                   "Process Group Description", "Process Group Ranks", "Seq", "Src Rank",
                   "Dst Rank", "In split size", "Out split size");
}

bool is_transfer_detail(std::string_view key) {
  return key == "data_type" || key == "count";
}

bool is_argument(std::string_view key) {
  return is_any_of(key, kShapes, "Input dims", "Input type", "Input Strides", "Concrete Inputs");
}

bool is_operation_detail(std::string_view key) {
  return key == "seq_id" || key == "model_chunk";
}

void append_detail(std::string& text, std::string_view key, std::string_view value) {
  text.append(key) += kBehindKey;
  if (!value.empty() && value.front() == '[')
    append_list(text, value);
  else
    append_line(text, value);
  text += kBehindValue;
}

std::string_view find_detail(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto [name, value] = take_pair(text);
    if (name == key && !value.empty()) return without_quotes(value.substr(1));
  }
  return {};
}

Details::Details(std::string_view text) : rest_(text) {
  while (!rest_.empty() && size_ < entries_.size()) {
    const auto [name, value] = take_pair(rest_);
    if (!value.empty()) entries_[size_++] = {name, without_quotes(value.substr(1))};
  }
}

std::string_view Details::find(std::string_view key) const {
  for (std::size_t i = 0; i < size_; ++i)
    if (entries_[i].key == key) return entries_[i].value;
  return find_detail(rest_, key);
}

std::optional<std::int64_t> Details::find_integer(std::string_view key) const {
  return whole_number<std::int64_t>(find(key));
}

std::optional<double> find_number(std::string_view text, std::string_view key) {
  return whole_number<double>(find_detail(text, key));
}

std::optional<std::int64_t> find_integer(std::string_view text, std::string_view key) {
  return whole_number<std::int64_t>(find_detail(text, key));
}

SpanColumn column_of(const EventClass& kind, std::int64_t duration_ns, const RunRequest& request) {
  // Shorter functions of Python are left out; they lie inside functions that are kept.
  constexpr std::int64_t kLeastFrameNs = 20'000;
  if (request.spans) return SpanColumn::spans;
  if (kind.place == EventPlace::nowhere) return SpanColumn::none;
  if (kind.place == EventPlace::device) return SpanColumn::devices;
  if (kind.place == EventPlace::call) return SpanColumn::calls;
  if (kind.is_operator && request.has_operators()) return SpanColumn::operators;
  if (kind.role != Role::other) return SpanColumn::hosts;
  const bool is_python =
      request.python && kind.mark == SpanMark::none && duration_ns >= kLeastFrameNs;
  if (is_python) return SpanColumn::python;
  return request.frames ? SpanColumn::frames : SpanColumn::none;
}

void EventColumns::add_frame(const HostSpan& span, SpanColumn column, const RunRequest& request) {
  if (column == SpanColumn::python || !request.python) frames.push_back(span);
  if (request.frames && request.python) all_frames.push_back(span);
}

bool Labels::is_known(std::string_view name, std::string_view category) const {
  const std::optional<std::uint32_t> name_number = texts_.find(name);
  const std::optional<std::uint32_t> category_number = texts_.find(category);
  return name_number && category_number &&
         pairs_.find(NumberPair(*name_number, *category_number).bytes());
}

std::uint32_t Labels::intern(std::string_view name, std::string_view category) {
  if (entries_.size() >= most_ && !is_known(name, category))
    return intern_other(classify(name, category));
  const std::uint32_t name_number = texts_.intern(name);
  const std::uint32_t category_number = texts_.intern(category);
  const std::uint32_t label = pairs_.intern(NumberPair(name_number, category_number).bytes());
  if (label == entries_.size())
    entries_.push_back({name_number, category_number, classify(name, category)});
  return label;
}

std::uint32_t Labels::intern(std::string_view name, std::string_view category,
                             const EventClass& kind) {
  if (kind == classify(name, category)) return intern(name, category);
  return entries_.size() >= most_ ? intern_other(kind) : intern_special(name, category, kind);
}

std::uint32_t Labels::intern_other(const EventClass& kind) {
  has_others_ = true;
  return intern_special("(other names)", "", kind);
}

std::uint32_t Labels::intern_special(std::string_view name, std::string_view category,
                                     const EventClass& kind) {
  const std::uint32_t name_number = texts_.intern(name);
  const std::uint32_t category_number = texts_.intern(category);
  // This key has another length than the key of an ordinary label.
  std::string key(NumberPair(name_number, category_number).bytes());
  for (const int part : {static_cast<int>(kind.place), static_cast<int>(kind.role),
                         static_cast<int>(kind.mark), kind.is_program ? 1 : 0})
    key += static_cast<char>(part);
  const std::uint32_t label = pairs_.intern(key);
  if (label == entries_.size()) entries_.push_back({name_number, category_number, kind});
  return label;
}

std::uint32_t Tracks::intern(std::size_t file, std::string_view pid, std::string_view tid) {
  const std::uint32_t pid_number = texts_.intern(pid);
  const std::uint32_t tid_number = texts_.intern(tid);
  const std::string key =
      std::to_string(file) + ' ' + std::to_string(pid_number) + ' ' + std::to_string(tid_number);
  const std::uint32_t track = keys_.intern(key);
  if (track == entries_.size()) entries_.push_back({file, pid_number, tid_number});
  return track;
}

}  // namespace traceloom
