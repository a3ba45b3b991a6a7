// Walks strict JSON in place: the members of an object, the elements of a list.
//
//   for_each_member(args, [&](std::string_view key, std::string_view value) {
//     if (key == "snapshot") use(value);
//   });
//
// Nothing is copied. The text should be is_strict_json(): what it is not, is not noticed, and the
// members of such a text may be any of its parts.
#pragma once

#include <cstddef>
#include <string_view>

namespace traceloom {

inline bool is_json_object(std::string_view value) {
  return !value.empty() && value.front() == '{';
}
inline bool is_json_list(std::string_view value) {
  return !value.empty() && value.front() == '[';
}
// Of strict JSON: only numbers begin like that.
inline bool is_json_number(std::string_view value) {
  return !value.empty() && (value.front() == '-' || (value.front() >= '0' && value.front() <= '9'));
}

// One step of a walk over what stands between two brackets.
class JsonWalk {
 public:
  // `container` is an object or a list; anything else has no members.
  explicit JsonWalk(std::string_view container);

  // Moves to the next member or element; false when there is none.
  bool next();
  // What stands between the quotes of the key, as written; empty in a list.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  std::size_t skip_space(std::size_t at) const;
  std::size_t string_end(std::size_t at) const;
  std::size_t value_end(std::size_t at) const;

  std::string_view text_;
  std::size_t at_;
  std::string_view key_;
  std::string_view value_;
};

template <typename Visit>
void for_each_member(std::string_view object, Visit visit) {
  if (!is_json_object(object)) return;
  for (JsonWalk walk(object); walk.next();) visit(walk.key(), walk.value());
}

template <typename Visit>
void for_each_element(std::string_view list, Visit visit) {
  if (!is_json_list(list)) return;
  for (JsonWalk walk(list); walk.next();) visit(walk.value());
}

// Whether two members of an object have one key, however it is written ("a" and "\u0061"). What the
// values hold is not looked at; false for what is no object.
bool repeats_key(std::string_view object);

// The value of the last member of that key, however it is written; empty when there is none or the
// value is no object.
std::string_view find_member(std::string_view object, std::string_view key);

}  // namespace traceloom
