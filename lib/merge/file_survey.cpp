#include "merge/file_survey.h"

#include "survey/json_member.h"

#include <charconv>

namespace traceloom {

std::string_view async_id_key(const Event& event, std::string& scratch) {
  if (event.has(Key::id)) return id_key(event.text(Key::id), scratch);
  if (!event.has(Key::id2)) return {};
  const std::string_view id2 = event.text(Key::id2);
  if (const std::string local = json_member(id2, "local"); !local.empty()) {
    scratch = "local " + canonical_id(event.text(Key::pid)) + " " + local;
    return scratch;
  }
  const std::string global = json_member(id2, "global");
  if (global.empty()) return {};
  scratch = "global " + global;
  return scratch;
}

bool has_local_async_id(const Event& event) {
  return !event.has(Key::id) && !json_member(event.text(Key::id2), "local").empty();
}

std::string_view merged_async_key(const Event& event, std::string& scratch) {
  constexpr std::string_view kAfter = "\"}";
  const std::string_view id2 = event.text(Key::id2);
  const std::string_view before = id2.starts_with(kMergedGlobal) ? kMergedGlobal : kMergedLocal;
  if (event.has(Key::id) || !id2.starts_with(before) || !id2.ends_with(kAfter)) return {};
  std::uint64_t number = 0;
  const char* const end = id2.data() + id2.size() - kAfter.size();
  const auto [stop, error] = std::from_chars(id2.data() + before.size(), end, number, 16);
  if (error != std::errc{} || stop != end) return {};
  scratch = std::to_string(number);
  return scratch;
}

}  // namespace traceloom
