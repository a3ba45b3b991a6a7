#include "flows/flow_id.h"

#include "base/json_check.h"
#include "base/json_walk.h"
#include "event/event_label.h"

#include <functional>

namespace traceloom {

std::uint64_t FlowLabel::hash(const Event& event) {
  const std::string_view category = flow_category(event);
  const std::string_view name = event.text(Key::name);
  if (hash_ == 0 || category != category_ || name != name_) {
    category_ = category;
    name_ = name;
    const std::string label = decoded(category) + '\0' + decoded(string_or_nothing(name));
    hash_ = std::hash<std::string>()(label);
  }
  return hash_;
}

std::string_view id_key(std::string_view json_value, std::string& scratch) {
  if (is_json_string(json_value) || whole_id(json_value)) return json_value;
  scratch = canonical_id(json_value);
  return scratch;
}

TwoIds read_id2(std::string_view id2) {
  if (!is_strict_json(id2)) return {};
  return {find_member(id2, "local"), find_member(id2, "global")};
}

std::string_view flow_id_key(const Event& event, std::string& scratch) {
  if (const std::string_view id = event.text(Key::id); !is_absent_id(id))
    return id_key(id, scratch);
  if (!event.has(Key::id2)) return {};
  const auto [local, global] = read_id2(event.text(Key::id2));
  if (!is_absent_id(local)) {
    scratch = "local " + canonical_id(event.text(Key::pid)) + " ";
    scratch += local;
    return scratch;
  }
  // A global id and a plain id belong to the whole trace alike.
  return is_absent_id(global) ? std::string_view() : id_key(global, scratch);
}

}  // namespace traceloom
