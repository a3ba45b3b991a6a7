#include "merge/ids/id_keys.h"

#include <charconv>

namespace traceloom {
namespace {

std::string_view scope_of(const Event& event) {
  const std::string_view scope = event.text(Key::scope);
  return is_absent_id(scope) ? kDefaultScope : scope;
}

// Separates the parts of a key: JSON text never contains it.
constexpr char kPart = '\x1f';

}  // namespace

bool is_empty_id2(std::string_view id2) {
  const auto [local, global] = read_id2(id2);
  return local.empty() && global.empty();
}

std::string_view async_id_key(const Event& event, std::string& scratch) {
  const std::string_view id = flow_id_key(event, scratch);
  const bool is_legacy = is_legacy_async(event);
  if (id.empty() || (!is_legacy && !event.has(Key::scope))) return id;
  std::string key(id);
  key += kPart;
  key += scope_of(event);
  if (is_legacy) {
    key += kPart;
    key += event.text(Key::name);
  }
  scratch = std::move(key);
  return scratch;
}

bool has_local_async_id(const Event& event) {
  return is_absent_id(event.text(Key::id)) && !is_absent_id(read_id2(event.text(Key::id2)).local);
}

std::string object_key(std::string_view pid, std::string_view scope, std::string_view id) {
  std::string key = "object ";
  key += pid;
  key += kPart;
  key += decoded(scope);
  key += kPart;
  return key += canonical_id(id);
}

std::string global_object_key(std::string_view scope, std::string_view id) {
  std::string key = "global ";
  key += decoded(scope);
  key += kPart;
  return key += canonical_id(id);
}

std::string process_dump_key(std::string_view dump_key, std::string_view pid) {
  return std::string(dump_key).append(1, kPart).append(pid);
}

std::string_view object_id_key(const Event& event, std::string& scratch) {
  std::string_view id = event.text(Key::id);
  bool is_global = false;
  if (is_absent_id(id) && event.has(Key::id2)) {
    const auto [local, global] = read_id2(event.text(Key::id2));
    is_global = is_absent_id(local);
    id = is_global ? global : local;
  }
  if (is_absent_id(id)) return {};
  if (event.phase == 'v' || event.phase == 'V')
    scratch = "dump " + canonical_id(id);
  else if (event.phase == 'P')
    scratch = "profile " + canonical_id(event.text(Key::pid)) + kPart + canonical_id(id);
  else if (is_global)
    scratch = global_object_key(scope_of(event), id);
  else
    scratch = object_key(canonical_id(event.text(Key::pid)), scope_of(event), id);
  return scratch;
}

std::string_view merged_hex_key(std::string_view json_value, std::string& scratch) {
  constexpr std::string_view kBefore = "\"0x";
  if (!json_value.starts_with(kBefore) || !json_value.ends_with('"')) return {};
  const std::string_view digits =
      json_value.substr(kBefore.size(), json_value.size() - kBefore.size() - 1);
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, 16);
  if (error != std::errc{} || stop != end) return {};
  scratch = std::to_string(number);
  return scratch;
}

std::string_view merged_async_key(const Event& event, std::string& scratch) {
  std::string_view id2 = event.text(Key::id2);
  const std::string_view before = id2.starts_with(kMergedGlobal) ? kMergedGlobal : kMergedLocal;
  if (event.has(Key::id) || !id2.starts_with(before)) return {};
  id2.remove_prefix(before.size());
  id2.remove_suffix(1);
  return merged_hex_key(id2, scratch);
}

std::string_view merged_object_key(const Event& event, std::string& scratch) {
  return event.has(Key::id2) ? std::string_view{} : merged_hex_key(event.text(Key::id), scratch);
}

}  // namespace traceloom
