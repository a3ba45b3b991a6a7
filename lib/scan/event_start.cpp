// Guesses where an event starts without knowing the text before it.
//
// In JSON an unescaped quote that a letter follows can only open a string, so a match of
// `} , { "key"` is certain to be outside strings; only its depth is a guess (an array of objects in
// args looks the same), and the key list makes that guess good.
#include "base/ascii.h"
#include "scan/event_scanner.h"

#include <array>
#include <cstring>

namespace traceloom {
namespace {

bool starts_with_event_key(std::string_view text) {
  static constexpr std::array<std::string_view, 11> kKeys{"ph\"",  "name\"", "cat\"",  "pid\"",
                                                          "tid\"", "ts\"",   "args\"", "id\"",
                                                          "dur\"", "s\"",    "tts\""};
  for (const std::string_view key : kKeys)
    if (text.starts_with(key)) return true;
  return false;
}

// True if text[brace] == '{' and a key of an event follows it.
bool opens_event(std::string_view text, std::size_t brace) {
  std::size_t p = brace + 1;
  while (p < text.size() && is_space(text[p])) ++p;
  return p < text.size() && text[p] == '"' && starts_with_event_key(text.substr(p + 1));
}

// True if "}" and "," stand before text[brace], with any white space.
bool follows_event(std::string_view text, std::size_t brace, std::size_t from) {
  std::size_t p = brace;
  while (p > from && is_space(text[p - 1])) --p;
  if (p == from || text[p - 1] != ',') return false;
  --p;
  while (p > from && is_space(text[p - 1])) --p;
  return p > from && text[p - 1] == '}';
}

}  // namespace

std::size_t find_event_start(std::string_view text, std::size_t from) {
  if (from < text.size() && text[from] == '{' && opens_event(text, from)) return from;
  for (std::size_t brace = text.find('{', from); brace != std::string_view::npos;
       brace = text.find('{', brace + 1))
    if (follows_event(text, brace, from) && opens_event(text, brace)) return brace;
  return std::string_view::npos;
}

std::size_t find_last_event_start(std::string_view text, std::size_t from) {
  std::size_t end = text.size();
  while (end > from) {
    const void* found = memrchr(text.data() + from, '{', end - from);
    if (found == nullptr) return std::string_view::npos;
    const std::size_t brace =
        static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    if (follows_event(text, brace, from) && opens_event(text, brace)) return brace;
    end = brace;
  }
  return std::string_view::npos;
}

}  // namespace traceloom
