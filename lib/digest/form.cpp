#include "digest/form.h"

#include "digest/records.h"

#define XXH_INLINE_ALL  // xxHash needs this macro to be used without its library
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace traceloom::digest {
namespace {

std::uint64_t hash_of(std::string_view text, std::uint64_t seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

// The strings of a form name its kind, and the last key before each mark.
struct FormKeys {
  std::uint64_t kind = 0;
  std::vector<std::string_view> keys;
};

FormKeys keys_of(std::string_view text) {
  FormKeys result;
  std::string_view key;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_mark(text[i])) result.keys.push_back(key);
    if (text[i] != '"') continue;
    std::size_t end = i + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    const std::string_view inside = text.substr(i + 1, std::min(end, text.size()) - i - 1);
    if (inside == "\1") {
      result.keys.push_back(key);
    } else {
      if (key == "ph" || key == "cat") result.kind = hash_of(inside, result.kind + key.size());
      key = inside;
    }
    i = end;
  }
  return result;
}

double unit_of(std::string_view hex) {
  std::uint64_t bits = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
  return std::bit_cast<double>(bits);
}

}  // namespace

std::uint32_t Keys::find(std::uint64_t hash) {
  const auto [place, is_new] =
      numbers_.try_emplace(hash, static_cast<std::uint32_t>(states_.size()));
  if (is_new) states_.emplace_back();
  return place->second;
}

Form::Form(std::string_view text, std::uint32_t first_column, Keys& keys) {
  const FormKeys names = keys_of(text);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_mark(text[i])) continue;
    const std::size_t place = columns.size();
    const std::string_view name =
        place < names.keys.size() ? names.keys[place] : std::string_view();
    const char mark = text[i];
    columns.push_back(
        {.mark = mark,
         .literal = text.substr(begin, i - begin),
         .number = first_column + static_cast<std::uint32_t>(place),
         .key = keys.find(hash_of(name, names.kind + static_cast<std::uint64_t>(mark))),
         .name = keys.find(hash_of(name, mark <= kNumberMark ? 0 : static_cast<unsigned>(mark)))});
    if (mark == kMultipleMark) {
      columns.back().unit = unit_of(text.substr(i + 1, kUnitBytes));
      i = std::min(i + kUnitBytes, text.size() - 1);
    }
    begin = i + 1;
  }
  end = text.substr(begin);
}

}  // namespace traceloom::digest
