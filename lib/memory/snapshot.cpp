#include "memory/snapshot.h"

#include "base/ascii.h"
#include "base/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace traceloom {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;  // of a block: sums of them fit
constexpr std::int64_t kMostMicroseconds = std::numeric_limits<std::int64_t>::max() / 1000;

bool is_python(const MemoryFrame& frame) {
  return frame.file.ends_with(".py") || frame.file.starts_with("<ipython");
}

// True below /lib/python3.11/ unless it is a package that was installed there.
bool is_standard_library(std::string_view file) {
  const std::size_t found = file.find("/lib/python3");
  if (found == std::string_view::npos) return false;
  const std::size_t end = file.find('/', found + std::string_view("/lib/python3").size());
  const std::string_view rest = file.substr(std::min(end, file.size()));
  return !rest.starts_with("/site-packages/") && !rest.starts_with("/dist-packages/");
}

bool is_users(std::string_view file) {
  return !has_text(file, "/torch/") && !has_text(file, "/torchinductor_") &&
         !is_standard_library(file);
}

// Returns the name before "::apply" in "torch::autograd::generated::AddmmBackward0::apply(...)".
std::string_view autograd_node(std::string_view function) {
  constexpr std::string_view kStart = "torch::autograd::";
  const std::size_t start = function.find(kStart);
  const std::size_t end = function.find("::apply", start == std::string_view::npos ? 0 : start);
  if (start == std::string_view::npos || end == std::string_view::npos) return {};
  const std::string_view path = function.substr(start + kStart.size(), end - start - kStart.size());
  const std::string_view name = path.substr(path.rfind(':') + 1);
  const bool is_word = std::ranges::all_of(name, [](char c) {
    return c == '_' || is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z');
  });
  return is_word && name != "Node" && name != "PyNode" ? name : std::string_view();
}

bool is_backward(const MemoryFrame& frame) {
  return frame.function.starts_with("torch::autograd::Engine::") ||
         frame.function.starts_with("torch::autograd::generated::") ||
         frame.function == "_engine_run_backward";
}

// What one frame tells; unknown if it tells nothing.
MemoryCategory category_of(const MemoryFrame& frame) {
  using enum MemoryCategory;
  if (has_text(frame.file, "/torch/optim/")) return optimizer;
  if (has_text(frame.file, "/torch/distributed/") || has_text(frame.file, "/torch/nn/parallel/") ||
      frame.function.starts_with("c10d::"))
    return communication;
  if (is_backward(frame)) return backward;
  const std::string_view function = frame.function;
  if (function == "__init__") return parameter;
  if (has_text(frame.file, "/torch/nn/modules/") &&
      is_any_of(function, "_apply", "to", "load_state_dict", "_load_from_state_dict"))
    return parameter;
  if (is_any_of(function, "forward", "_call_impl")) return activation;
  return unknown;
}

struct ActionName {
  std::string_view name;
  MemoryAction action;
  bool is_mapping = false;
};
constexpr std::array kActions{
    ActionName{"alloc", MemoryAction::alloc},
    ActionName{"free_requested", MemoryAction::free_requested},
    ActionName{"free_completed", MemoryAction::free_completed},
    ActionName{"segment_alloc", MemoryAction::segment_alloc},
    ActionName{"segment_free", MemoryAction::segment_free},
    ActionName{"segment_map", MemoryAction::segment_alloc, true},
    ActionName{"segment_unmap", MemoryAction::segment_free, true},
    ActionName{"snapshot", MemoryAction::snapshot},
    ActionName{"oom", MemoryAction::oom},
    ActionName{"annotate", MemoryAction::remark},
    ActionName{"user_defined", MemoryAction::remark},
};

class SnapshotReader {
 public:
  SnapshotReader(const PickleDocument& document, const std::string& name)
      : document_(document), name_(name), frame_of_(document.objects(), kNoStack) {}

  Snapshot read() {
    const PickleValue segments = required_list("segments");
    const PickleValue traces = required_list("device_traces");
    for (const PickleValue segment : document_.items(segments)) read_segment(segment);
    std::int64_t device = 0;
    for (const PickleValue trace : document_.items(traces)) {
      if (!document_.is_list(trace)) leave_out();
      if (!document_.items(trace).empty())
        devices_[device].entries.reserve(document_.items(trace).size());
      for (const PickleValue entry : document_.items(trace)) read_entry(entry, device);
      ++device;
    }
    read_settings();
    for (auto& [number, one] : devices_) {
      one.device = number;
      snapshot_.devices.push_back(std::move(one));
    }
    snapshot_.trailing_bytes = document_.trailing_bytes();
    return std::move(snapshot_);
  }

 private:
  PickleValue of(PickleValue dict, const char* key) const { return document_.member(dict, key); }

  // Segments, blocks and entries are objects of their own, with a few members each: a file in which
  // one stands many times would take memory and time without a limit.
  void count(PickleValue part) {
    constexpr std::size_t kMostMembers = 1000;
    if (++parts_ > document_.objects())
      throw Error(name_, "has a segment, block or entry of its history several times");
    if (document_.size(part) > kMostMembers)
      throw Error(name_, fmt::format("has a segment, block, entry or frame of more than {} members",
                                     kMostMembers));
  }

  PickleValue required_list(const char* key) const {
    const PickleValue list = of(document_.root(), key);
    if (!document_.is_list(list))
      throw NoMemoryFile(name_, fmt::format("is no allocator snapshot: {} is {}, not a list", key,
                                            list.is_none() ? "missing" : document_.kind(list)));
    return list;
  }

  void leave_out() { ++snapshot_.left_out; }

  std::optional<std::int64_t> bytes(PickleValue value) const {
    const auto number = document_.integer(value);
    return number && *number >= 0 && *number <= kMostBytes ? number : std::nullopt;
  }

  // --- stacks

  MemoryFrame read_frame(PickleValue frame) const {
    return {document_.text(document_.member(frame, name_key_)).value_or(""),
            document_.text(document_.member(frame, file_key_)).value_or(""),
            document_.integer(document_.member(frame, line_key_)).value_or(0)};
  }

  // Equal frames have one number, also if the file has them several times.
  std::uint32_t number_of(PickleValue frame) {
    if (!document_.is_dict(frame)) return kNoStack;
    std::uint32_t& number = frame_of_[frame.index()];
    if (number != kNoStack) return number;
    count(frame);
    const MemoryFrame read = read_frame(frame);
    number = frame_ids_.intern(fmt::format("{}\n{}\n{}", read.function, read.file, read.line));
    if (number == frames_.size()) frames_.push_back(read);
    return number;
  }

  // Equal stacks have one number. No frames are kNoStack.
  std::uint32_t stack_of(PickleValue list) {
    if (!list.is_none() && !document_.is_list(list)) leave_out();
    const std::span<const PickleValue> items = document_.items(list);
    if (items.empty()) return kNoStack;
    std::uint32_t& known = frame_of_[list.index()];  // lists and frames are different objects
    if (known != kNoStack) return known;
    numbers_.clear();
    for (const PickleValue frame : items) numbers_.push_back(number_of(frame));
    const std::string_view key(reinterpret_cast<const char*>(numbers_.data()),
                               numbers_.size() * sizeof(std::uint32_t));
    known = stack_ids_.intern(key);
    if (known == snapshot_.stacks.size()) add_stack();
    return known;
  }
  void add_stack() {
    std::vector<MemoryFrame> stack;
    for (const std::uint32_t number : numbers_)
      if (number != kNoStack) stack.push_back(frames_[number]);
    snapshot_.stacks.push_back(
        {snapshot_.places.intern(place_of(stack)), traceloom::category_of(stack)});
  }

  // --- segments

  void read_segment(PickleValue value) {
    count(value);
    MemorySegment segment;
    const auto address = document_.address(of(value, "address"));
    const auto total = bytes(of(value, "total_size"));
    const auto device = document_.integer(of(value, "device"));
    if (!address || !total || (device && (*device < 0 || *device > INT32_MAX))) return leave_out();
    segment.address = *address;
    segment.bytes = *total;
    segment.is_small = document_.text(of(value, "segment_type")) == "small";
    segment.is_expandable = document_.flag(of(value, "is_expandable")).value_or(false);
    for (const PickleValue part : document_.items(of(value, "segment_pool_id")))
      segment.is_private |= document_.integer(part) != 0;
    std::uint64_t next = segment.address;
    for (const PickleValue block : document_.items(of(value, "blocks")))
      read_block(block, next, segment);
    devices_[device.value_or(0)].segments.push_back(std::move(segment));
  }

  // Blocks follow each other; torch 2.0 has no addresses.
  void read_block(PickleValue value, std::uint64_t& next, MemorySegment& segment) {
    count(value);
    MemoryBlock block;
    const auto size = bytes(of(value, "size"));
    const auto state = document_.text(of(value, "state")).value_or("");
    block.is_free = state == "inactive";
    block.waits = state == "active_pending_free" || state == "active_awaiting_free";
    if (!size || (!block.is_free && !block.waits && state != "active_allocated")) {
      leave_out();
      if (size) next += static_cast<std::uint64_t>(*size);
      return;
    }
    block.address = document_.address(of(value, "address")).value_or(next);
    block.bytes = *size;
    next = block.address + static_cast<std::uint64_t>(*size);
    if (!block.is_free) {
      const auto history = document_.items(of(value, "history"));
      const PickleValue last = history.empty() ? PickleValue() : history.front();
      auto requested = bytes(of(value, "requested_size"));
      if (!requested) requested = bytes(of(last, "real_size"));
      block.requested = std::min(requested.value_or(block.bytes), block.bytes);
      const PickleValue frames = of(value, "frames");
      block.stack = stack_of(frames.is_none() ? of(last, "frames") : frames);
    }
    segment.blocks.push_back(block);
  }

  // --- entries

  const ActionName& action_of(std::string_view name) const {
    static constexpr ActionName kUnknown{"", MemoryAction::unknown};
    const auto found = std::ranges::find(kActions, name, &ActionName::name);
    return found == kActions.end() ? kUnknown : *found;
  }

  void read_entry(PickleValue value, std::int64_t device) {
    count(value);
    const auto name = document_.text(document_.member(value, action_key_));
    if (!name) return leave_out();
    const ActionName& action = action_of(*name);
    MemoryEntry entry{.action = action.action, .is_mapping = action.is_mapping};
    const auto time = document_.integer(document_.member(value, time_key_));
    if (time && *time >= 0 && *time <= kMostMicroseconds) entry.at_ns = *time * 1000;
    if (*name == "user_defined") read_old_mark(value, entry.at_ns, device);
    if (entry.action != MemoryAction::remark && entry.action != MemoryAction::unknown) {
      const bool is_oom = entry.action == MemoryAction::oom;
      const auto size = bytes(document_.member(value, size_key_));
      const auto address =
          document_.address(document_.member(value, is_oom ? device_free_key_ : address_key_));
      const bool needs_address = !is_oom && entry.action != MemoryAction::snapshot;
      if (!size || (needs_address && !address)) return leave_out();
      entry.bytes = *size;
      entry.address = address.value_or(0);
      entry.stack = stack_of(document_.member(value, frames_key_));
    }
    devices_[device].entries.push_back(entry);
  }

  // torch 2.5 wrote marks as entries with one frame: START or END is its name, the label its file.
  void read_old_mark(PickleValue value, std::int64_t at_ns, std::int64_t device) {
    const auto frames = document_.items(document_.member(value, frames_key_));
    if (frames.empty() || at_ns == kNoTime) return;
    const MemoryFrame frame = read_frame(frames.front());
    devices_[device].marks.push_back({at_ns, frame.function == "START", std::string(frame.file)});
  }

  // --- what stands beside them

  void read_settings() {
    const PickleValue settings = of(document_.root(), "allocator_settings");
    snapshot_.expandable_segments = document_.flag(of(settings, "expandable_segments"));
    for (const PickleValue mark : document_.items(of(document_.root(), "external_annotations")))
      read_mark(mark);
    for (const PickleValue segment : document_.items(of(document_.root(), "host_segments")))
      snapshot_.pinned_bytes += bytes(of(segment, "total_size")).value_or(0);
  }

  void read_mark(PickleValue mark) {
    const auto name = document_.text(of(mark, "name"));
    const auto stage = document_.text(of(mark, "stage"));
    const auto time = document_.integer(of(mark, "time_us"));
    const auto device = document_.integer(of(mark, "device")).value_or(0);
    if (!name || !stage || !time || *time < 0 || *time > kMostMicroseconds) return leave_out();
    // A mark of a device without memory says nothing about another one.
    if (const auto found = devices_.find(device); found != devices_.end())
      found->second.marks.push_back({*time * 1000, *stage == "START", std::string(*name)});
  }

  std::size_t parts_ = 0;
  const PickleDocument& document_;
  const std::string& name_;
  Snapshot snapshot_;
  std::map<std::int64_t, DeviceSnapshot> devices_;

  std::vector<MemoryFrame> frames_;
  std::vector<std::uint32_t> frame_of_;  // by object: the number of a frame or of a stack
  std::vector<std::uint32_t> numbers_;
  StringTable frame_ids_;
  StringTable stack_ids_;

  const PickleValue action_key_ = document_.find_text("action");
  const PickleValue address_key_ = document_.find_text("addr");
  const PickleValue device_free_key_ = document_.find_text("device_free");
  const PickleValue size_key_ = document_.find_text("size");
  const PickleValue time_key_ = document_.find_text("time_us");
  const PickleValue frames_key_ = document_.find_text("frames");
  const PickleValue name_key_ = document_.find_text("name");
  const PickleValue file_key_ = document_.find_text("filename");
  const PickleValue line_key_ = document_.find_text("line");
};

}  // namespace

std::string place_of(const std::vector<MemoryFrame>& stack) {
  for (const MemoryFrame& frame : stack)
    if (is_python(frame) && is_users(frame.file))
      return fmt::format("{}:{} {}", frame.file.substr(frame.file.find_last_of("/\\") + 1),
                         frame.line, frame.function);
  for (const MemoryFrame& frame : stack)
    if (const std::string_view node = autograd_node(frame.function); !node.empty())
      return std::string(node);
  return std::string(kNoPythonPlace);
}

MemoryCategory category_of(const std::vector<MemoryFrame>& stack) {
  for (const MemoryFrame& frame : stack)
    if (const MemoryCategory told = category_of(frame); told != MemoryCategory::unknown)
      return told;
  return MemoryCategory::other;
}

bool is_snapshot(const PickleDocument& document) {
  return document.is_dict(document.root()) &&
         (!document.member(document.root(), "segments").is_none() ||
          !document.member(document.root(), "device_traces").is_none());
}

Snapshot snapshot_of(const PickleDocument& document, const std::string& name) {
  return SnapshotReader(document, name).read();
}

}  // namespace traceloom
