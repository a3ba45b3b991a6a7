#include "merge/facts/ids.h"

#include "base/ascii.h"
#include "base/json_string.h"
#include "base/json_walk.h"

#include <charconv>

#define XXH_INLINE_ALL  // xxHash asks for it where its library is not linked
#include <xxhash.h>

namespace traceloom {

void IdSet::add(std::string_view key) {
  const std::optional<std::uint64_t> number = whole_id(key);
  if (number && *number < kPlainIdLimit) {
    max_number_ = std::max(max_number_, *number);
    return;
  }
  max_large_ = std::max(max_large_, number.value_or(0));
  others_.intern(key);
}

void IdSet::add(const IdSet& other) {
  max_number_ = std::max(max_number_, other.max_number_);
  max_large_ = std::max(max_large_, other.max_large_);
  for (std::uint32_t i = 0; i < other.others_.size(); ++i) others_.intern(other.others_[i]);
}

std::uint64_t common_id_range(const std::vector<std::uint64_t>& ranges) {
  std::uint64_t needed = 0;
  for (const std::uint64_t range : ranges) needed = std::max(needed, range);
  if (needed < 2) return 0;
  if (ranges.size() == 1) return needed;
  std::uint64_t range = 1;
  while (range < needed) range *= 10;
  return range;
}

std::uint64_t IdMap::number(std::string_view key) const {
  const std::optional<std::uint64_t> number = whole_id(key);
  if (number && *number < limit_) return begin_ + *number;
  return end_ - 1 - ids_->others_.find(key).value_or(0);
}

std::optional<std::uint64_t> IdMap::find(std::string_view key) const {
  const std::optional<std::uint64_t> number = whole_id(key);
  const bool is_known =
      number && *number < limit_ ? begin_ + *number < end_ : ids_->others_.find(key).has_value();
  if (!is_known) return std::nullopt;
  return this->number(key);
}

bool IdMap::operator==(const IdMap& other) const {
  const StringTable& texts = ids_->others_;
  const StringTable& other_texts = other.ids_->others_;
  if (begin_ != other.begin_ || limit_ != other.limit_ || texts.size() != other_texts.size())
    return false;
  for (std::uint32_t i = 0; i < texts.size(); ++i)
    if (texts[i] != other_texts[i]) return false;
  return texts.size() == 0 || end_ == other.end_;
}

std::uint64_t shared_id_number(std::string_view key) {
  if (const std::optional<std::uint64_t> number = whole_id(key)) return *number;
  constexpr std::uint64_t kFirst = kMergedIdLimit / 2;
  return kFirst + XXH3_64bits(key.data(), key.size()) % kFirst;
}

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
  const auto number = whole_number<std::uint64_t>(digits, 16);
  if (!number) return {};
  scratch = std::to_string(*number);
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

namespace {

// An id such as "f12_7": the group 12, and what follows after the "_".
struct GroupedId {
  std::uint32_t group = 0;
  std::string_view rest;
};

std::optional<GroupedId> split(std::string_view id) {
  if (!id.starts_with('f')) return std::nullopt;
  GroupedId grouped;
  const char* const end = id.data() + id.size();
  const auto [stop, error] = std::from_chars(id.data() + 1, end, grouped.group);
  if (error != std::errc{} || stop == end || *stop != '_') return std::nullopt;
  grouped.rest = {stop + 1, static_cast<std::size_t>(end - stop - 1)};
  return grouped;
}

std::string plain_id(std::string_view json_id) {
  return std::string(unquoted(canonical_id(json_id)));
}

}  // namespace

std::optional<std::uint32_t> frame_group(std::string_view json_id) {
  const std::string id = plain_id(json_id);
  const std::optional<GroupedId> grouped = split(id);
  // No merge has more files than that.
  if (!grouped || grouped->group > 100'000'000) return std::nullopt;
  return grouped->group;
}

void FrameIds::append_to(std::string& out, std::string_view json_id, std::string_view pid) const {
  const std::string id = plain_id(json_id);
  std::string renamed = "f";
  if (const std::optional<GroupedId> grouped = split(id); keeps && grouped) {
    renamed += std::to_string(begin + grouped->group) + "_";
    renamed += grouped->rest;
  } else {
    renamed += std::to_string(begin) + "_";
    if (!pid.empty()) renamed.append(unquoted(pid)) += '_';
    renamed += id;
  }
  append_json_string(out, renamed);
}

bool is_frame_dictionary(std::string_view value) {
  bool is_one = is_json_object(value);
  for_each_member(value, [&](std::string_view, std::string_view frame) {
    is_one = is_one && is_json_object(frame);
  });
  return is_one;
}

void append_frame(std::string& out, std::string_view id, std::string_view frame,
                  const FrameIds& ids, std::string_view pid) {
  ids.append_to(out, std::string("\"").append(id) + '"', pid);
  out += ':';
  JsonParts renamed(out, '{');
  for_each_member(frame, [&](std::string_view key, std::string_view value) {
    if (key == "parent" && value != "null")
      ids.append_to(renamed.next(key), value, pid);
    else
      renamed.add(key, value);
  });
  renamed.close();
}

}  // namespace traceloom
