// These tests merge damaged traces: whatever the merge writes is strict JSON, and a merge of that
// changes nothing.
#include "base/json_string.h"
#include "base/problems.h"
#include "support/merge_texts.h"
#include "support/random_trace.h"
#include "support/tries.h"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <string_view>

using namespace traceloom;

namespace {

// Bytes and pieces that have a meaning in a trace, or must not stand in one.
constexpr std::array<std::string_view, 26> kPieces = {"\"",
                                                      "{",
                                                      "}",
                                                      "[",
                                                      "]",
                                                      ",",
                                                      ":",
                                                      "\\",
                                                      "\n",
                                                      "\xff",
                                                      "\xc3",
                                                      "NaN",
                                                      "0x1f",
                                                      "-",
                                                      "1e400",
                                                      "\"pid\": ",
                                                      "\"tid\":9",
                                                      "\"id\": -3",
                                                      "\\ud83d",
                                                      "\\u0000",
                                                      "\"ph\": \"b\"",
                                                      "9999999999999999999",
                                                      "\"id2\": {\"local\": \"0x1\"}, ",
                                                      "\"bind_id\": \"z\", ",
                                                      "null",
                                                      "\"ts\""};

std::string damaged(std::string text, std::mt19937_64& random) {
  for (std::uint64_t left = 1 + random() % 6; left > 0; --left) {
    const std::size_t at = random() % text.size();
    const std::string_view piece = kPieces[random() % kPieces.size()];
    const std::size_t replaced = random() % 3 == 0 ? 0 : random() % 12;
    text.replace(at, replaced, piece);
  }
  if (random() % 8 == 0) text.resize(random() % text.size() + 1);
  return text;
}

}  // namespace

TEST_CASE("mutation: what comes out of damaged traces is strict JSON that merges into itself" *
          doctest::test_suite("long")) {
  std::size_t merged_count = 0;
  for (std::uint64_t seed = 0; seed < tries(400); ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto style = static_cast<TraceStyle>(seed % 3);
    NamedTexts files;
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      const std::string text = random_trace({.seed = seed * 2 + static_cast<std::uint64_t>(rank),
                                             .style = style,
                                             .events = 40,
                                             .rank = rank,
                                             .rare_events = seed % 2 == 1});
      files.emplace_back("rank" + std::to_string(rank) + ".json", damaged(text, random));
    }
    std::string once;
    try {
      once = merge_texts(files, 2);
    } catch (const Error&) {
      continue;  // so damaged that it is no trace
    }
    ++merged_count;
    REQUIRE(is_strict_json(once));
    for (const oracle::MergedEvent& event : read_merged(once)) REQUIRE(event.duration_ns >= 0);
    const std::string twice = merge_texts({{"once.json", once}});
    REQUIRE(without_other_data(twice) == without_other_data(once));
  }
  CHECK(merged_count > tries(400) / 2);
}
