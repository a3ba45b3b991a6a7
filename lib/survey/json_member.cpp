#include "survey/json_member.h"

#include <simdjson.h>

#include <charconv>

#include "event/event.h"

namespace traceloom {

std::string json_member(std::string_view object, std::string_view key) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string text(object);
  simdjson::ondemand::document document;
  simdjson::ondemand::value value;
  if (parser.iterate(text).get(document) != simdjson::SUCCESS) return {};
  if (document.find_field_unordered(key).get(value) != simdjson::SUCCESS) return {};
  std::string_view raw;
  if (simdjson::to_json_string(value).get(raw) != simdjson::SUCCESS) return {};
  return std::string(raw);
}

std::optional<std::int64_t> json_integer(std::string_view json_value) {
  const std::string text = canonical_id(json_value);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

}  // namespace traceloom
