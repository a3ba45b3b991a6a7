#include "base/units.h"

#include <doctest/doctest.h>

#include <limits>

using namespace traceloom;

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("units: counts get a comma every three digits") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1,000");
  CHECK(format_count(41233) == "41,233");
  CHECK(format_count(123456) == "123,456");
  CHECK(format_count(kMaxBytes) == "18,446,744,073,709,551,615");
}

TEST_CASE("units: bytes have one digit after the point and a binary unit") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(812) == "812 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1024) == "1.0 KiB");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes(67108864) == "64.0 MiB");
  CHECK(format_bytes(1'000'000'000) == "953.7 MiB");
  CHECK(format_bytes(1'048'575) == "1.0 MiB");  // 1,024.0 KiB would be wrong
  CHECK(format_bytes(1023 * 1024) == "1,023.0 KiB");
  CHECK(format_bytes(kMaxBytes) == "16.0 EiB");
  CHECK(bytes_words(1536) == "1.5 KiB");
  CHECK(bytes_words(-1536) == "-1.5 KiB");
  CHECK(bytes_words(std::numeric_limits<std::int64_t>::min()) == "-8.0 EiB");
}

TEST_CASE("units: durations have three digits after the point and the unit that fits") {
  CHECK(format_duration(0) == "0 ns");
  CHECK(format_duration(999) == "999 ns");
  CHECK(format_duration(1000) == "1.000 us");
  CHECK(format_duration(1234) == "1.234 us");
  CHECK(format_duration(93'000'000) == "93.000 ms");
  CHECK(format_duration(61'000'000'000) == "61.000 s");
  CHECK(format_duration(4'210'000'000'000) == "4,210.000 s");
  CHECK(format_duration(-1'234'567) == "-1.235 ms");
  CHECK(format_duration(-5) == "-5 ns");
}

TEST_CASE("units: a duration that rounds up to the next unit is written in it") {
  CHECK(format_duration(999'999) == "999.999 us");
  CHECK(format_duration(999'999'499) == "999.999 ms");
  CHECK(format_duration(999'999'500) == "1.000 s");
  CHECK(format_duration(1'234'499) == "1.234 ms");
  CHECK(format_duration(1'234'500) == "1.235 ms");
}

TEST_CASE("units: the largest and the smallest duration are written") {
  CHECK(format_duration(kMax) == "9,223,372,036.855 s");
  CHECK(format_duration(kMin) == "-9,223,372,036.855 s");
}

TEST_CASE("units: sizes are read in powers of 1024 and of 1000") {
  CHECK(parse_bytes("0") == 0u);
  CHECK(parse_bytes("4096") == 4096u);
  CHECK(parse_bytes("12B") == 12u);
  CHECK(parse_bytes("64MiB") == 67'108'864u);
  CHECK(parse_bytes("64M") == 67'108'864u);
  CHECK(parse_bytes("64 MB") == 64'000'000u);
  CHECK(parse_bytes("1.5G") == 1'610'612'736u);
  CHECK(parse_bytes("1.5 gb") == 1'500'000'000u);
  CHECK(parse_bytes("0.3k") == 307u);
  CHECK(parse_bytes(".5K") == 512u);
  CHECK(parse_bytes("2 TiB") == 2'199'023'255'552u);
}

TEST_CASE("units: what is no size or too large is refused") {
  for (const char* text : {"", "MiB", "-1", "+1", "1.", ".", "1.M", "1 2", "64Q", "0x10", "1e3",
                           "1,000", " 1", "64 M iB"})
    CHECK_MESSAGE(!parse_bytes(text), text);
  CHECK(parse_bytes("18446744073709551615") == kMaxBytes);
  CHECK_FALSE(parse_bytes("18446744073709551616"));
  CHECK(parse_bytes("16383.9P") == 18'446'631'483'718'867'353u);
  CHECK_FALSE(parse_bytes("16384P"));
}

TEST_CASE("units: durations are read in every unit") {
  CHECK(parse_duration("5ns") == 5);
  CHECK(parse_duration("5us") == 5'000);
  CHECK(parse_duration("5\u00B5s") == 5'000);
  CHECK(parse_duration("5 \u03BCs") == 5'000);
  CHECK(parse_duration("1.5 ms") == 1'500'000);
  CHECK(parse_duration("-3s") == -3'000'000'000);
  CHECK(parse_duration("+3s") == 3'000'000'000);
  CHECK(parse_duration("2min") == 120'000'000'000);
  CHECK(parse_duration("1.5h") == 5'400'000'000'000);
  CHECK(parse_duration(".25us") == 250);
}

TEST_CASE("units: decimal durations are exact and cut below a nanosecond") {
  CHECK(parse_duration("0.1us") == 100);
  CHECK(parse_duration("1.001us") == 1'001);
  CHECK(parse_duration("1.0019us") == 1'001);
  CHECK(parse_duration("-1.0019us") == -1'001);
  CHECK(parse_duration("1700000000.123456789s") == 1'700'000'000'123'456'789);
  CHECK(parse_duration("0.00000000000000000000000001h") == 0);
}

TEST_CASE("units: a duration without a unit is refused but for zero") {
  CHECK_FALSE(parse_duration("7"));
  CHECK_FALSE(parse_duration("0.1"));
  CHECK(parse_duration("0") == 0);
  CHECK(parse_duration("-0.00") == 0);
  CHECK(parse_duration("0s") == 0);
}

TEST_CASE("units: what is no duration or does not fit is refused") {
  for (const char* text :
       {"", "-", "s", "--1s", "-+1s", "1m", "1 sec", "1.s", "1..5s", "1 s s", "1S", " 1s"})
    CHECK_MESSAGE(!parse_duration(text), text);
  CHECK(parse_duration("9223372036854775807ns") == kMax);
  CHECK(parse_duration("9223372036.854775807s") == kMax);
  CHECK_FALSE(parse_duration("9223372036854775808ns"));
  CHECK(parse_duration("-9223372036.854775808s") == kMin);
  CHECK_FALSE(parse_duration("-9223372036.854775809s"));
  CHECK_FALSE(parse_duration("2562048h"));
  CHECK_FALSE(parse_duration("99999999999999999999999ns"));
}

TEST_CASE("a count has its noun, which ends in an s for all numbers but 1") {
  CHECK(count_of(0, "file") == "0 files");
  CHECK(count_of(1, "file") == "1 file");
  CHECK(count_of(14'052, "event") == "14,052 events");
  CHECK(count_of(std::numeric_limits<std::uint64_t>::max(), "byte") ==
        "18,446,744,073,709,551,615 bytes");
}

TEST_CASE("a word goes with its number") {
  CHECK(plural(1, "file") == "file");
  CHECK(plural(0, "file") == "files");
  CHECK(plural(1, "holds", "hold") == "holds");
  CHECK(plural(2, "holds", "hold") == "hold");
  CHECK(plural(0, "is", "are") == "are");
}

TEST_CASE("ranks that follow each other are a range") {
  CHECK(ranks_words(std::vector<std::int64_t>{2}, RankStyle::sentence) == "rank 2");
  CHECK(ranks_words(std::vector<std::int64_t>{2, 5, 6, 7}, RankStyle::sentence) == "ranks 2, 5-7");
  CHECK(ranks_words(std::set<std::int64_t>{2, 5, 6, 7}, RankStyle::option) == "ranks 2,5-7");
  CHECK(rank_list({{0, 1023}}, RankStyle::sentence) == "0-1023");
  CHECK(rank_list({}, RankStyle::sentence).empty());
}

TEST_CASE("a sentence names eight ranges, an option all of them") {
  std::vector<RankRange> ranges;
  for (std::int64_t i = 0; i < 8; ++i) ranges.push_back({2 * i, 2 * i});
  CHECK(rank_list(ranges, RankStyle::sentence) == "0, 2, 4, 6, 8, 10, 12, 14");
  ranges.push_back({20, 29});
  ranges.push_back({40, 41});
  CHECK(rank_list(ranges, RankStyle::sentence) == "0, 2, 4, 6, 8, 10, 12, 14 and 12 more");
  CHECK(rank_list(ranges, RankStyle::option) == "0,2,4,6,8,10,12,14,20-29,40-41");
}

TEST_CASE("ranks of which a sentence says something one by one are named one by one") {
  const std::vector<std::int64_t> ranks{1, 2, 5};
  CHECK(ranks_words(ranks, RankStyle::each) == "ranks 1, 2, 5");
  CHECK(ranks_words(ranks, RankStyle::named) == "ranks 1, 2 and 5");
  CHECK(rank_list({{7, 7}}, RankStyle::named) == "7");
  CHECK(rank_list({{0, 1}, {3, 12}}, RankStyle::named) == "0, 1, 3, 4, 5, 6, 7, 8 and 4 more");
  CHECK(ranks_words(ranks, RankStyle::all) == "ranks 1 and 2 and 5");
  CHECK(ranks_words(ranks, RankStyle::either) == "ranks 1 or 2 or 5");
  CHECK(ranks_words(std::vector<std::int64_t>{3}, RankStyle::either) == "rank 3");
}
