#include "event/event.h"

#include "base/ascii.h"
#include "base/json_string.h"

#include <charconv>
#include <cstddef>
#include <vector>

namespace traceloom {
namespace {

// Returns "7.0", "7e0" and "-0" as the integer text that they mean; empty if the number is no
// integer of at most 30 digits.
std::string integer_text(std::string_view number) {
  const bool negative = !number.empty() && number.front() == '-';
  if (negative) number.remove_prefix(1);
  const std::size_t integer_end = number.find_first_not_of("0123456789");
  std::string digits(number.substr(0, integer_end));
  if (digits.empty()) return {};
  if (integer_end != std::string_view::npos) {
    std::string_view rest = number.substr(integer_end);
    if (rest.front() == '.') {
      const std::size_t zeros_end = rest.find_first_not_of('0', 1);
      if (zeros_end == 1) return {};
      rest = zeros_end == std::string_view::npos ? std::string_view{} : rest.substr(zeros_end);
    }
    if (!rest.empty()) {
      if (rest.front() != 'e' && rest.front() != 'E') return {};
      rest.remove_prefix(1);
      if (!rest.empty() && rest.front() == '+') rest.remove_prefix(1);
      if (rest.empty() || rest.size() > 2) return {};
      std::size_t zeros = 0;
      for (const char c : rest) {
        if (c < '0' || c > '9') return {};
        zeros = zeros * 10 + static_cast<std::size_t>(c - '0');
      }
      digits.append(zeros, '0');
    }
  }
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return "0";
  digits.erase(0, first);
  if (digits.size() > 30) return {};
  return negative ? "-" + digits : digits;
}

// True for the usual ids: digits without a leading zero, fewer than 30.
bool is_plain_integer(std::string_view value) {
  return value.size() < 30 && value.front() != '0' &&
         value.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string decoded(std::string_view value) {
  return is_json_string(value) ? decode_json_string(unquoted(value)) : std::string(value);
}

std::string canonical_id(std::string_view value) {
  if (value.empty() || value == "null") return {};
  if (is_plain_integer(value)) return std::string(value);
  const std::string text = decoded(value);
  if (std::string integer = integer_text(text); !integer.empty()) return integer;
  return is_json_string(value) ? "\"" + text + "\"" : text;
}

std::optional<std::int64_t> json_integer(std::string_view value) {
  const auto plain = whole_number<std::int64_t>(value);
  return plain ? plain : whole_number<std::int64_t>(canonical_id(value));
}

namespace {

// The most characters between the values of name and category, in either order, if only one key
// stands between them: `", "name": "`. Another member between them would make the gap longer.
constexpr std::size_t kWidestGap = 11;

}  // namespace

std::string_view string_or_nothing(std::string_view value) {
  return is_json_string(value) ? value : std::string_view{};
}

std::string_view label_text(const Event& event, std::string& scratch) {
  const std::string_view name = string_or_nothing(event.text(Key::name));
  const std::string_view category = string_or_nothing(event.text(Key::cat));
  if (!name.empty() && !category.empty()) {
    const std::string_view first = name.data() < category.data() ? name : category;
    const std::string_view second = name.data() < category.data() ? category : name;
    const char* const first_end = first.data() + first.size();
    if (static_cast<std::size_t>(second.data() - first_end) <= kWidestGap)
      return {first.data(), static_cast<std::size_t>(second.data() + second.size() - first.data())};
  }
  scratch.assign(name.data(), name.size());
  scratch += '\0';
  scratch.append(category.data(), category.size());
  return scratch;
}

namespace {

// A rule compares how the names of a process and a thread begin; the first rule that fits is used.
// The place of a device in a cluster ("/job:worker/replica:0/task:0") does not count.
struct RowRule {
  std::string_view process;
  std::string_view thread;
  DeviceRow row;
  std::string_view process_part = {};  // a text in the name of the process
};

constexpr DeviceRow kStreams{RowUse::work, RowMaker::xla, 3};
constexpr DeviceRow kOps{RowUse::work, RowMaker::xla, 2, true};
constexpr DeviceRow kModules{RowUse::work, RowMaker::xla, 1, true, true};
constexpr DeviceRow kTransfers{RowUse::transfers, RowMaker::xla};
constexpr DeviceRow kSteps{RowUse::steps, RowMaker::xla};
constexpr DeviceRow kCopy{RowUse::copy, RowMaker::xla};
constexpr DeviceRow kTensorFlow{RowUse::work, RowMaker::xla};
constexpr DeviceRow kCheck{RowUse::check, RowMaker::xla};
constexpr DeviceRow kCupti{RowUse::work, RowMaker::cupti};
constexpr DeviceRow kUnknown{RowUse::unknown};

constexpr RowRule kRules[] = {
    // TensorFlow 1 has a row of each stream and one of all. Its other rows of a device show when
    // the host executed operators.
    {"/device:GPU:", "", kTensorFlow, "/stream:all"},
    {"/device:GPU:", "", kCopy, "/stream:"},
    {"/device:GPU:", "", kCopy, "/memcpy"},
    {"/device:GPU:", "", kCheck, " Compute"},
    {"/device:GPU:", "", kCheck, " Tensors"},
    {"/gpu:", "", kTensorFlow, "/stream:all"},
    {"/gpu:", "", kCopy, "/stream:"},
    {"/gpu:", "", kCopy, "/memcpy"},
    {"/gpu:", "", kCheck, " Compute"},
    {"/gpu:", "", kCheck, " Tensors"},
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
    {"CPU functions", "", {RowUse::host, RowMaker::autograd}},
    {"CUDA functions", "", {RowUse::work, RowMaker::autograd, 0, true}},
    // nsys2json
    {"Device ", "Stream ", kCupti},
    {"Device ", "CUDA API", {RowUse::calls, RowMaker::cupti}},
    {"Device ", "NVTX", kCopy},
};

// How the names of copies and fills of devices begin, in lower case.
constexpr std::string_view kCopyNames[] = {"[memcpy]",      "[memset]",       "[cuda memcpy",
                                           "[cuda memset",  "memcpy htod (",  "memcpy dtoh (",
                                           "memcpy dtod (", "memset (device)"};
// How the names of kernels of libraries begin, in lower case.
constexpr std::string_view kKernelNames[] = {
    "ampere_",    "volta_",  "turing_", "maxwell_",     "hopper_", "sm70_",        "sm75_",
    "sm80_",      "sm86_",   "sm90_",   "sm100_",       "cutlass", "cudnn::",      "nccldevkernel",
    "ncclkernel", "triton_", "cijk_",   "at::native::", "nvjet_",  "_zn2at6native"};
// Parts of the names of template kernels, in lower case.
constexpr std::string_view kKernelParts[] = {
    "kernel",   "at::native::", "cub::",     "cutlass",  "cudnn",
    "thrust::", "gemm",         "flash_fwd", "flash_bwd"};

template <typename List>
bool starts_with_any(std::string_view name, const List& starts) {
  return std::any_of(std::begin(starts), std::end(starts),
                     [&](std::string_view start) { return name.starts_with(start); });
}

// Returns "/device:GPU:0" for "/job:worker/replica:0/task:0/device:GPU:0".
std::string_view without_job(std::string_view process) {
  if (process.starts_with("/job:"))
    for (const std::string_view device : {"/device:", "/gpu:"})
      if (const std::size_t at = process.find(device); at != process.npos)
        return process.substr(at);
  return process;
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
    if (is_any_of(words[i], "npu", "tpu", "hpu", "xpu", "ipu", "mtia", "gaudi", "aiu", "spyre",
                  "neuron", "dcu", "mlu", "neuroncore", "accelerator", "gcu", "hardware",
                  "privateuse", "privateuseone"))
      return true;
    if (!is_any_of(words[i], "gpu", "device")) continue;
    if (i + 1 == words.size() || is_digit(words[i + 1].front())) return true;
  }
  return false;
}

DeviceRow find_device_row(std::string_view process, std::string_view thread) {
  const std::string_view name = without_job(process);
  for (const RowRule& rule : kRules)
    if (name.starts_with(rule.process) && thread.starts_with(rule.thread) &&
        name.find(rule.process_part) != name.npos)
      return rule.row;
  return looks_like_device(process) ? kUnknown : DeviceRow{};
}

void SpanNames::add(std::string_view name) {
  const std::string lower = to_lower(name);
  any_copies |= starts_with_any(lower, kCopyNames);
  all_kernels &= starts_with_any(lower, kKernelNames) ||
                 (lower.starts_with("void ") && lower.find('<') != lower.npos &&
                  std::any_of(std::begin(kKernelParts), std::end(kKernelParts),
                              [&](auto part) { return lower.find(part) != lower.npos; }));
}

DeviceRow find_row_by_spans(const SpanNames& names) {
  return names.any_copies || names.all_kernels ? kCupti : DeviceRow{};
}

bool is_named_device(std::string_view process) {
  return std::any_of(std::begin(kRules), std::end(kRules), [&](const RowRule& rule) {
    return without_job(process).starts_with(rule.process);
  });
}

std::optional<std::int32_t> device_number(std::string_view process) {
  process = without_job(process);
  constexpr std::string_view kPlainDevice = "Device ";
  if (process.starts_with(kPlainDevice)) return number_at(process, kPlainDevice.size());
  constexpr std::string_view kDevice = "/device:";
  const std::size_t kind = process.starts_with(kDevice) ? kDevice.size() : 0;
  if (kind == 0 && !process.starts_with("/gpu:")) return std::nullopt;
  const std::size_t colon = process.find(':', kind);
  return colon == process.npos ? std::nullopt : number_at(process, colon + 1);
}

std::optional<std::int32_t> stream_number(std::string_view thread) {
  if (!to_lower(thread.substr(0, 6)).starts_with("stream")) return std::nullopt;
  const std::size_t digits = thread.find_first_of("0123456789");
  return digits == thread.npos ? std::nullopt : number_at(thread, digits);
}

EventSide event_side(std::string_view category) {
  return any_part(to_lower(category), is_device_category) ? EventSide::device : EventSide::host;
}

}  // namespace traceloom
