// Small tools for short texts, which run without a call: they are in the inner loops.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace traceloom {

// Classifies and lowers ASCII characters; the locale has no influence.
//
//   to_lower("Merged.GZ") == "merged.gz"

// JSON allows exactly these characters between its tokens.
inline bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// Returns the text without spaces at its ends.
inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

inline bool has_text(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

inline char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

inline std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

// Returns the number that all of the text says, as std::from_chars reads it: nullopt for any other
// text, and for a number that does not fit.
template <class Number>
std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<Number>)
    result = std::from_chars(text.data(), end, number);
  else
    result = std::from_chars(text.data(), end, number, base);
  return result == std::from_chars_result{end, std::errc{}} ? std::optional(number) : std::nullopt;
}

// any_part(): whether a list that is separated by commas, as categories are, has a wanted part.
//
//   any_part("cpu_op,kernel", [](std::string_view category) { return category == "kernel"; })

// An empty text has one part, which is empty.
template <class IsWanted>
bool any_part(std::string_view list, const IsWanted& is_wanted) {
  while (true) {
    const std::size_t comma = list.find(',');
    if (is_wanted(list.substr(0, comma))) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

// is_any_of(): whether a text is one of some words.
//
//   is_any_of(category, "kernel", "gpu_memcpy")
// The lengths of the words are constants, so that hardly one is looked at.
template <typename... Words>
[[gnu::always_inline]] inline bool is_any_of(std::string_view text, const Words&... words) {
  return ((text == std::string_view(words)) || ...);
}

// same_text(): whether two texts are equal, for short ones without a call.
//
//   if (same_text(event.text(Key::tid), known.tid)) ...
//
// `==` of two string_views calls two functions; ids, which are compared several times an event,
// have 1 to 16 bytes. With `==`, a merge of torch traces takes 5 % more instructions (callgrind).

[[gnu::always_inline]] inline bool same_text(std::string_view a, std::string_view b) {
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
  // Compares the first and the last bytes of both; the two pieces may overlap.
  const auto same_pieces = [&]<class Word>(Word) {
    const auto load = [](const char* at) {
      Word word;
      std::memcpy(&word, at, sizeof word);
      return word;
    };
    const std::size_t last = size - sizeof(Word);
    return load(a.data()) == load(b.data()) && load(a.data() + last) == load(b.data() + last);
  };
  if (size >= 8) return same_pieces(std::uint64_t{});
  if (size >= 4) return same_pieces(std::uint32_t{});
  if (size >= 2) return same_pieces(std::uint16_t{});
  return size == 0 || a.front() == b.front();
}

}  // namespace traceloom
