#include "event/event_side.h"

#include "base/ascii.h"

#include <charconv>
#include <string>
#include <vector>

namespace traceloom {
namespace {

// A rule compares how the names of a process and a thread begin; the first rule that fits is used.
struct RowRule {
  std::string_view process;
  std::string_view thread;
  DeviceRow row;
};

constexpr DeviceRow kStreams{RowUse::work, RowMaker::xla, 3};
constexpr DeviceRow kOps{RowUse::work, RowMaker::xla, 2, true};
constexpr DeviceRow kModules{RowUse::work, RowMaker::xla, 1, true, true};
constexpr DeviceRow kTransfers{RowUse::transfers, RowMaker::xla};
constexpr DeviceRow kSteps{RowUse::steps, RowMaker::xla};
constexpr DeviceRow kCopy{RowUse::copy, RowMaker::xla};
constexpr DeviceRow kUnknown{RowUse::unknown};

constexpr RowRule kRules[] = {
    {"/device:GPU:", "Stream #", kStreams},
    {"/device:GPU:", "XLA Ops", kOps},
    {"/device:GPU:", "XLA Modules", kModules},
    {"/device:GPU:", "Steps", kSteps},
    {"/device:GPU:", "TensorFlow ", kCopy},
    {"/device:GPU:", "Framework ", kCopy},
    {"/device:GPU:", "Source", kCopy},
    {"/device:GPU:", "XLA TraceMe", kCopy},
    {"/device:TPU:", "XLA Ops", kOps},
    {"/device:TPU:", "XLA Modules", kModules},
    {"/device:TPU:", "Async XLA Ops", kTransfers},
    {"/device:TPU:", "Steps", kSteps},
    {"/device:TPU:", "TensorFlow ", kCopy},
    {"/device:TPU:", "Framework ", kCopy},
    {"/device:TPU:", "Source", kCopy},
    {"/device:TPU:", "XLA TraceMe", kCopy},
    {"/host:", "", {RowUse::host, RowMaker::xla}},
    {"Ascend Hardware", "Stream", {RowUse::work, RowMaker::ascend, 1}},
    {"HCCL", "Group", {RowUse::communication, RowMaker::ascend, 2}},
    {"HCCL", "Plane", {RowUse::communication, RowMaker::ascend, 1}},
    {"Communication", "Group", {RowUse::communication, RowMaker::ascend, 2}},
    {"Communication", "Plane", {RowUse::communication, RowMaker::ascend, 1}},
    {"Overlap Analysis", "", {RowUse::check, RowMaker::ascend}},
    {"CANN", "", {RowUse::calls, RowMaker::ascend}},
};

// Words that name a device with or without a number after them, in lower case.
constexpr std::string_view kDeviceWords[] = {
    "npu",    "tpu", "hpu", "xpu",        "ipu",         "mtia", "gaudi",
    "neuron", "dcu", "mlu", "neuroncore", "accelerator", "gcu",  "hardware"};
// Words that name a device only if a number or nothing follows them.
constexpr std::string_view kShortWords[] = {"gpu", "device"};

template <typename List>
bool is_one_of(std::string_view word, const List& list) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

// Splits into words of letters and words of digits: "gpu" and "0" for both "gpu:0" and "gpu0".
std::vector<std::string_view> words_of(std::string_view lower) {
  std::vector<std::string_view> words;
  for (std::size_t from = 0; from < lower.size();) {
    std::size_t to = from;
    const bool digits = is_digit(lower[from]);
    while (to < lower.size() && (digits ? is_digit(lower[to]) : is_letter(lower[to]))) ++to;
    if (to > from) words.push_back(lower.substr(from, to - from));
    from = std::max(to, from + 1);
  }
  return words;
}

std::optional<std::int32_t> number_at(std::string_view text, std::size_t at) {
  std::int32_t number = 0;
  const auto [stop, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  return number;
}

}  // namespace

bool looks_like_device(std::string_view process) {
  const std::string lower = to_lower(process);
  if (lower.starts_with("/host:")) return false;
  if (const std::size_t at = lower.find("/device:"); at != std::string::npos)
    return !lower.substr(at).starts_with("/device:cpu");
  const std::vector<std::string_view> words = words_of(lower);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_one_of(words[i], kDeviceWords)) return true;
    if (!is_one_of(words[i], kShortWords)) continue;
    if (i + 1 == words.size() || is_digit(words[i + 1].front())) return true;
  }
  return false;
}

DeviceRow find_device_row(std::string_view process, std::string_view thread) {
  for (const RowRule& rule : kRules)
    if (process.starts_with(rule.process) && thread.starts_with(rule.thread)) return rule.row;
  return looks_like_device(process) ? kUnknown : DeviceRow{};
}

bool is_named_device(std::string_view process) {
  return std::any_of(std::begin(kRules), std::end(kRules),
                     [&](const RowRule& rule) { return process.starts_with(rule.process); });
}

std::optional<std::int32_t> device_number(std::string_view process) {
  constexpr std::string_view kDevice = "/device:";
  if (!process.starts_with(kDevice)) return std::nullopt;
  const std::size_t colon = process.find(':', kDevice.size());
  return colon == process.npos ? std::nullopt : number_at(process, colon + 1);
}

std::optional<std::int32_t> stream_number(std::string_view thread) {
  if (!to_lower(thread.substr(0, 6)).starts_with("stream")) return std::nullopt;
  const std::size_t digits = thread.find_first_of("0123456789");
  return digits == thread.npos ? std::nullopt : number_at(thread, digits);
}

EventSide event_side(std::string_view category) {
  const std::string lower = to_lower(category);
  std::string_view rest = lower;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (is_device_category(rest.substr(0, comma))) return EventSide::device;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return EventSide::host;
}

}  // namespace traceloom
