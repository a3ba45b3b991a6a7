#include "base/json_walk.h"

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <string>
#include <string_view>

using namespace traceloom;

namespace {

// Returns the number of characters that a function takes from a text that starts with a number;
// nullopt if it refuses the text.
template <typename Skip>
std::optional<std::size_t> taken(std::string_view number, Skip skip) {
  const std::string text = std::string(number) + "," + std::string(64, ' ');
  const char* const behind = skip(text.data(), text.data() + text.size());
  if (behind == nullptr) return std::nullopt;
  return static_cast<std::size_t>(behind - text.data());
}

std::optional<std::size_t> any(std::string_view number) {
  return taken(number, skip_json_number);
}
std::optional<std::size_t> integer(std::string_view number) {
  return taken(number, [](const char* at, const char*) { return skip_plain_integer(at); });
}
std::optional<std::size_t> decimal(std::string_view number) {
  return taken(number, [](const char* at, const char*) { return skip_plain_decimal(at); });
}

}  // namespace

TEST_CASE("json_token: numbers of all forms") {
  for (const char* number : {"0", "-0", "7", "1234567890123456789012345678901234567890", "0.5",
                             "-12.25", "1e5", "1E+5", "1.5e-10", "-0.0e0"})
    CHECK(any(number) == std::string_view(number).size());
  for (const char* number :
       {"", "-", "01", "-01", ".5", "1.", "1.e5", "1e", "1e+", "+1", "x", "--1"})
    CHECK(any(number) == std::nullopt);
  CHECK(any("12x") == 2);
  CHECK(any("0x10") == 1);
}

TEST_CASE("json_token: plain integers have up to 15 digits and nothing of a longer number behind") {
  for (const char* number : {"0", "7", "10", "123456789012345"})
    CHECK(integer(number) == std::string_view(number).size());
  for (const char* number :
       {"", "-1", "01", "00", "1234567890123456", "1.5", "1.", "1e5", "1E5", "x"})
    CHECK(integer(number) == std::nullopt);
}

TEST_CASE("json_token: plain decimals have digits on both sides, 31 characters in all") {
  for (const char* number : {"0.5", "7.0", "123456789012345.678", "1.12345678901234567890123456789",
                             "0.00000000000000000000000000001"})
    CHECK(decimal(number) == std::string_view(number).size());
  for (const char* number :
       {"", "1", ".5", "1.", "01.5", "-1.5", "1.5e3", "1.5E3", "1234567890123456.5", "1..5", "x.5",
        "1.123456789012345678901234567890"})
    CHECK(decimal(number) == std::nullopt);
}

TEST_CASE("json_token: random texts, plain forms against the full grammar") {
  std::mt19937_64 random(3);
  constexpr std::string_view kCharacters = "0123456789012345678901234567.e-";
  for (int i = 0; i < 100000; ++i) {
    std::string text(1 + random() % 34, '0');
    for (char& c : text) c = kCharacters[random() % kCharacters.size()];
    CAPTURE(text);
    const std::optional<std::size_t> size = any(text);
    if (const auto plain = integer(text)) CHECK(plain == size);
    if (const auto plain = decimal(text)) CHECK(plain == size);
    const bool is_whole = size == text.size();
    const bool has_point = text.find('.') != std::string::npos;
    const bool is_simple = is_whole && text.find_first_of("e-") == std::string::npos;
    if (is_simple && !has_point) CHECK(integer(text).has_value() == (text.size() <= 15));
    if (is_simple && has_point)
      CHECK(decimal(text).has_value() == (text.size() <= 31 && text.find('.') <= 15));
  }
}

TEST_CASE("json_token: plain characters end at a quote, backslash, control or other byte") {
  for (std::size_t before = 0; before < 70; ++before) {
    for (int c = 0; c < 256; ++c) {
      const std::string text =
          std::string(before, 'a') + static_cast<char>(c) + std::string(before % 40, 'b');
      const bool is_plain = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
      const char* const end = text.data() + text.size();
      const char* const stop = skip_plain_characters(text.data(), end);
      CHECK(static_cast<std::size_t>(stop - text.data()) == (is_plain ? text.size() : before));
    }
  }
}
