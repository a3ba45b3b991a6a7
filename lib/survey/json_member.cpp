#include "survey/json_member.h"

#include "event/event.h"

#include <simdjson.h>

#include <charconv>

namespace traceloom {

std::string json_member(std::string_view object, std::string_view key) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string text(object);
  simdjson::ondemand::document document;
  simdjson::ondemand::object members;
  if (parser.iterate(text).get(document) != simdjson::SUCCESS) return {};
  if (document.get_object().get(members) != simdjson::SUCCESS) return {};
  std::string found;
  for (auto member : members) {
    std::string_view name;
    simdjson::ondemand::value value;
    std::string_view raw;
    if (member.unescaped_key().get(name) != simdjson::SUCCESS) break;
    if (name != key) continue;
    if (member.value().get(value) != simdjson::SUCCESS) break;
    if (simdjson::to_json_string(value).get(raw) != simdjson::SUCCESS) break;
    found = raw;
  }
  return found;
}

std::vector<std::pair<std::string, std::string>> json_members(std::string_view object) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string text(object);
  simdjson::ondemand::document document;
  simdjson::ondemand::object found;
  std::vector<std::pair<std::string, std::string>> members;
  if (parser.iterate(text).get(document) != simdjson::SUCCESS) return {};
  if (document.get_object().get(found) != simdjson::SUCCESS) return {};
  for (auto member : found) {
    std::string_view key;
    simdjson::ondemand::value value;
    std::string_view raw;
    if (member.unescaped_key().get(key) != simdjson::SUCCESS) return {};
    std::string name(key);
    if (member.value().get(value) != simdjson::SUCCESS) return {};
    if (simdjson::to_json_string(value).get(raw) != simdjson::SUCCESS) return {};
    members.emplace_back(std::move(name), raw);
  }
  return members;
}

void load_json_parser() {
  json_member("{}", "");
}

std::optional<std::int64_t> json_integer(std::string_view json_value) {
  const std::string text = canonical_id(json_value);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

}  // namespace traceloom
