#include "scan/text_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace traceloom;

namespace {

using Positions = std::vector<std::size_t>;

// The expected content of the index, computed one character after another.
struct Expected {
  explicit Expected(std::string_view text) : suspects(text.size()) {
    bool in_string = false;
    bool escaped = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      const bool is_quote = c == '"' && !escaped;
      escaped = c == '\\' && !escaped;
      if (is_quote) in_string = !in_string;
      const bool is_brace = (c == '{' || c == '}') && !in_string;
      if (is_brace) braces.push_back(i);
      if (is_quote || is_brace) tokens.push_back(i);
      suspects[i] = c == '\\' || (in_string && static_cast<signed char>(c) < 0x20);
    }
  }

  Positions tokens;
  Positions braces;
  std::vector<bool> suspects;
};

Positions tokens_of(const TextIndex& index, std::size_t size) {
  Positions found;
  TextIndex::Tokens tokens(index, 0);
  for (std::size_t at = tokens.next(); at < size; at = tokens.next()) found.push_back(at);
  return found;
}

Positions braces_of(const TextIndex& index, std::size_t size) {
  Positions found;
  for (std::size_t at = index.next_brace(0); at < size; at = index.next_brace(at + 1))
    found.push_back(at);
  return found;
}

void check_index(const TextIndex& index, std::string_view text, std::mt19937_64& random) {
  const Expected expected(text);
  REQUIRE(tokens_of(index, text.size()) == expected.tokens);
  REQUIRE(braces_of(index, text.size()) == expected.braces);
  std::vector<bool> suspects;
  for (std::size_t i = 0; i < text.size(); ++i) suspects.push_back(index.is_suspect(i, i + 1));
  REQUIRE(suspects == expected.suspects);
  REQUIRE_FALSE(index.is_suspect(text.size(), text.size()));
  for (int i = 0; i < 3 && !text.empty(); ++i) {
    const std::size_t begin = random() % text.size();
    const std::size_t end = begin + random() % (text.size() - begin + 1);
    const auto first = expected.suspects.begin();
    REQUIRE(index.is_suspect(begin, end) ==
            (std::find(first + static_cast<std::ptrdiff_t>(begin),
                       first + static_cast<std::ptrdiff_t>(end),
                       true) != first + static_cast<std::ptrdiff_t>(end)));
    const auto next = std::lower_bound(expected.tokens.begin(), expected.tokens.end(), begin);
    TextIndex::Tokens tokens(index, begin);
    const std::size_t token = tokens.next();
    if (next == expected.tokens.end()) {
      REQUIRE(token >= text.size());
    } else {
      REQUIRE(token == *next);
      tokens.seek(begin);
      REQUIRE(tokens.next() == *next);
    }
  }
}

std::string random_text(std::size_t size, std::mt19937_64& random) {
  static constexpr std::string_view kCharacters(
      "\\\\\\\"\"\"{}[]:, abc\t\n\0\x01\x1f \x7f\x80\xc3\xff", 26);
  // A few texts are nearly all backslashes, a few have hardly any.
  const std::size_t from = random() % 4 == 0 ? 3 : 0;
  const std::size_t to = random() % 4 == 0 ? 6 : kCharacters.size();
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += kCharacters[from + random() % (to - from)];
  return text;
}

}  // namespace

TEST_CASE("text_index: knows quotes, braces and what is suspect in random texts of all sizes") {
  std::mt19937_64 random(1);
  TextIndex index;  // one for all texts: earlier content must not remain
  TextIndex portable;
  for (std::size_t size = 0; size <= 300; ++size) {
    for (int i = 0; i < 6; ++i) {
      const std::string text = random_text(size, random);
      index.build(text);
      check_index(index, text, random);
      portable.build_portable(text);
      check_index(portable, text, random);
    }
  }
}

TEST_CASE("text_index: does not look behind the text") {
  const std::string text(130, '"');
  TextIndex index;
  for (std::size_t size = 0; size <= 130; ++size) {
    index.build(std::string_view(text).substr(0, size));
    CHECK(tokens_of(index, size).size() == size);
    TextIndex::Tokens tokens(index, size);
    CHECK(tokens.next() >= size);
  }
}

TEST_CASE("text_index: carries escapes and strings over the borders of its blocks") {
  std::mt19937_64 random(2);
  TextIndex index;
  TextIndex portable;
  for (const std::size_t border : {64U, 128U, 192U}) {
    for (std::size_t before = 0; before <= 70; ++before) {
      // A run of backslashes of every length ends at the border, or one or two characters after it.
      for (std::size_t shift = 0; shift < 3; ++shift) {
        std::string text(border - std::min<std::size_t>(border, before) + shift, 'x');
        text[0] = '"';
        text += std::string(before, '\\') + "\"}{\"}\"";
        index.build(text);
        check_index(index, text, random);
        portable.build_portable(text);
        check_index(portable, text, random);
      }
    }
  }
}

TEST_CASE("text_index: tells control characters in strings from white space outside") {
  TextIndex index;
  const std::string text = "{\n\t\"a\tb\"\n:\x80 \"\x7f\" \"\xc3\xa9\"}";
  index.build(text);
  const auto is_suspect = [&](char c) {
    const std::size_t at = text.find(c);
    return index.is_suspect(at, at + 1);
  };
  CHECK_FALSE(is_suspect('\n'));
  CHECK_FALSE(index.is_suspect(0, 5));
  CHECK(index.is_suspect(0, 6));
  CHECK_FALSE(is_suspect('\x80'));
  CHECK_FALSE(is_suspect('\x7f'));
  CHECK(is_suspect('\xc3'));
  CHECK_FALSE(index.is_suspect(7, text.find('\xc3')));
}

TEST_CASE("text_index: an object is skipped by its braces, unless one stands in a string") {
  const std::string behind(64, ' ');
  const auto skipped = [&](const std::string& text) -> std::ptrdiff_t {
    const std::string padded = text + behind;
    const char* const begin = padded.data();
    const char* const end = begin + padded.size();
    const char* const fast = skip_plain_object(begin, end);
    REQUIRE(skip_plain_object_portable(begin, end) == fast);
    return fast == nullptr ? -1 : fast - begin;
  };
  CHECK(skipped("{}") == 2);
  CHECK(skipped("{}}}") == 2);
  CHECK(skipped(R"({"a": {"b": [{}, {}]}, "c": "x"}, {"d": "}"})") == 32);
  CHECK(skipped(R"({"a": "}"})") == -1);
  CHECK(skipped(R"({"a": "{"})") == -1);
  CHECK(skipped(R"({"a": "\"}"})") == -1);
  CHECK(skipped(R"({"a": "\"", "b\\": 1})") == 21);
  CHECK(skipped(R"({"a": {)") == -1);
  CHECK(skipped("{anything, but no string") == -1);
  CHECK(skipped("{anything, but no string}") == 25);
  for (std::size_t size = 0; size < 200; ++size) {
    CHECK(skipped("{\"" + std::string(size, 'k') + "\": {}}") ==
          static_cast<std::ptrdiff_t>(size + 8));
    CHECK(skipped("{\"k\": \"" + std::string(size, 'v') + "{\"}") == -1);
    CHECK(skipped(std::string(size, '{') + std::string(size, '}')) ==
          (size == 0 ? -1 : static_cast<std::ptrdiff_t>(2 * size)));
  }
  // The function needs text after the object.
  const std::string end = "{}" + std::string(61, ' ');
  CHECK(skip_plain_object(end.data(), end.data() + end.size()) == nullptr);
}
