#include "merge/chromium/type_names.h"

#include "base/json_walk.h"

namespace traceloom {
namespace {

std::string_view type_names_of(std::string_view object) {
  return find_member(find_member(object, "args"), "typeNames");
}

}  // namespace

bool TypeNames::take(std::string_view event) {
  const std::string_view object = event.substr(event.find('{'));
  const std::string_view added = type_names_of(object);
  if (find_member(object, "name") != "\"typeNames\"" || !is_json_object(added)) return false;
  std::string& known = events_[std::string(find_member(object, "pid"))];
  if (known.empty()) {
    known = event;
    return true;
  }
  const std::string_view all = type_names_of(std::string_view(known).substr(known.find('{')));
  const bool was_empty = !JsonWalk(all).next();
  const std::size_t end = static_cast<std::size_t>(all.data() + all.size() - 1 - known.data());
  const std::string_view members = added.substr(1, added.size() - 2);
  if (JsonWalk(added).next()) known.insert(end, (was_empty ? "" : ",") + std::string(members));
  return true;
}

std::string TypeNames::events() const {
  std::string all;
  for (const auto& [pid, event] : events_) all += event;
  return all;
}

}  // namespace traceloom
