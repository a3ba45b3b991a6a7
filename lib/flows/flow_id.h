// The ids of flow events (s, t, f): which of them belong to one arrow.
//
//   FlowLabel label;
//   std::string scratch;
//   if (is_flow_phase(event.phase)) use(label.hash(event), flow_id_key(event, scratch));
//
// Viewers join flow events of one category, name and id over the whole trace. Keys are empty if the
// event has no id. They are views of the event or of `scratch`.
#pragma once

#include "event/event.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

inline bool is_flow_phase(char phase) {
  return phase == 's' || phase == 't' || phase == 'f';
}

// A merge writes this for a missing name or category.
inline constexpr std::string_view kQuotedNoName = "\"(none)\"";

// Returns the category of a flow event as a merge writes it: viewers distinguish flows by it, and
// catapult imports nothing at all if one has none.
inline std::string_view flow_category(const Event& event) {
  const std::string_view category = event.text(Key::cat);
  return is_json_string(category) ? category : kQuotedNoName;
}

// A hash of category and name, by which viewers distinguish flows of one id. Flow events mostly
// have the same ones as the event before, which are not hashed again.
class FlowLabel {
 public:
  std::uint64_t hash(const Event& event);

 private:
  std::string category_;
  std::string name_;
  std::uint64_t hash_ = 0;
};

// A JavaScript number holds each whole number below this.
inline constexpr std::uint64_t kWholeIdLimit = std::uint64_t{1} << 53;

// Returns a whole number from 1 on and below kWholeIdLimit that is written without sign or leading
// zeros. Viewers take 0 for no id, so 0 is no such number.
inline std::optional<std::uint64_t> whole_id(std::string_view key) {
  if (key.empty() || key.size() > 16 || key.front() == '0') return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : key) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (number >= kWholeIdLimit) return std::nullopt;
  return number;
}

// True for an id that is not there, or null.
inline bool is_absent_id(std::string_view id) {
  return id.empty() || id == "null";
}

// Returns one spelling for one id: numbers as canonical_id() has them, text with its quotes, so
// that 31, "31" and "0x1f" stay three ids, as viewers see them. A plain whole number is returned as
// it is, without a copy.
std::string_view id_key(std::string_view json_value, std::string& scratch);

// The members "local" and "global" of an id2; both are empty if it is no JSON.
struct TwoIds {
  std::string_view local;
  std::string_view global;
};
TwoIds read_id2(std::string_view id2);

// Returns id, or else id2. A local id2 belongs to a process.
std::string_view flow_id_key(const Event& event, std::string& scratch);

}  // namespace traceloom
