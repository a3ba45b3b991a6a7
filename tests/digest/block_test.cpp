#include "digest/block.h"

#include "digest/bytes.h"
#include "digest/frames.h"
#include "support/random_text.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <string>

using namespace traceloom;
using namespace traceloom::digest;

namespace {

void check_round_trip(const std::string& text) {
  const std::optional<std::string> again = decode_block(encode_block(text));
  REQUIRE(again);
  CHECK((*again == text));
}

}  // namespace

TEST_CASE("encode_block: odd texts come back byte for byte") {
  for (const std::string text :
       {"",
        " ",
        "\n",
        "{",
        "}",
        "}}}}{{{{",
        "[",
        "]",
        "\"",
        "\\",
        "\"\\\"",
        "-",
        "-0",
        "0",
        "00",
        "1e5",
        "1 2  3",
        "[[[[1,2]]]]",
        "{\"a\":{\"b\":[{},[],{}]}}",
        "[{\"ts\":1e400}]",
        "[{\"ts\":-0.0},{\"ts\":0.0},{\"ts\":00.1},{\"ts\":1.}]",
        "\1\2\3",
        "[{\"\1\":\"\2\"}]",
        "[{\"ph\":\"\1\"}]",
        "\xff\xfe\x80",
        "[{\"ts\":123456789012345678901234567890}]",
        "[{\"cat\":\"a\\\"b\",\"ph\":\"\"},{\"cat\":\"a\\\"b\",\"ph\":\"\"}]",
        "{\"ph\":{\"ph\":1}}"})
    check_round_trip(text);
  check_round_trip(std::string("a\0b", 3));
  check_round_trip(std::string(100'000, '['));
  check_round_trip(std::string(100'000, '"'));
}

TEST_CASE("encode_block: numbers whose unit changes, up to those that do not fit it") {
  check_round_trip(
      R"([{"ts":1},{"ts":1.5},{"ts":1.50},{"ts":999999999999999999},{"ts":0.000000000000001},)"
      R"({"ts":999999999999999999},{"ts":-999999999999999999},{"ts":1},{"ts":453.2337188720703}])");
}

TEST_CASE("encode_block: random bytes of JSON") {
  std::mt19937_64 random(3);
  const std::string bytes = "{}[]\",:0123456789.-eE \n\\abphct\1\2\3";
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (std::size_t size = random() % 200; text.size() < size;)
      text += bytes[random() % bytes.size()];
    CAPTURE(text);
    check_round_trip(text);
  }
}

TEST_CASE("encode_block: every file of testdata, and mutations of it") {
  namespace fs = std::filesystem;
  std::mt19937_64 random(5);
  std::size_t files = 0;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(TRACELOOM_SOURCE_DIR "/testdata")) {
    if (!entry.is_regular_file() || entry.file_size() > kMostBlockBytes) continue;
    std::string text = read_file(entry.path().string());
    CAPTURE(entry.path().string());
    check_round_trip(text);
    if (text.empty()) continue;
    for (int i = 0; i < 20; ++i) text[random() % text.size()] = static_cast<char>(random());
    check_round_trip(text);
    ++files;
  }
  CHECK(files > 300);
}

TEST_CASE("encode_block: a text of forms without end takes bounded memory") {
  std::string text;
  for (int i = 0; text.size() < 3'000'000; ++i)
    text += "1" + std::string(static_cast<std::size_t>(i % 7), ' ') + (i % 3 == 0 ? "{" : "}");
  check_round_trip(text);
}

TEST_CASE("encode_block: events are a few bytes each") {
  const std::string text = random_trace_text(std::size_t{1} << 20);
  const std::string packed = encode_block(text);
  // Two random numbers of 9 and 27 bits a line of 45 bytes.
  CHECK(packed.size() < text.size() * 13 / 100);
  CHECK(decode_block(packed) == text);
}

// If this fails, digests that are stored somewhere would become other texts: raise kVersion.
TEST_CASE("decode_block: a block of version 1") {
  REQUIRE(kVersion == 1);
  const std::string hex =
      "9801773478da538dae562ac850b2528a50d251ca4bcc4d05321981cc9262252b261da594d222205daba6c3453565"
      "ccb54cb15c00d9081caf0a1278da63494fcdcd65294acd29050010da0367101ef885fb227217560cf974e7d53d5a"
      "0057";
  std::string packed;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    packed += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  CHECK(decode_block(packed) ==
        "[{\"ph\":\"X\",\"name\":\"gemm\",\"ts\":12.5,\"dur\":3},\n"
        "{\"ph\":\"X\",\"name\":\"relu\",\"ts\":15.25,\"dur\":1},\n"
        "{\"ph\":\"X\",\"name\":\"gemm\",\"ts\":17.125,\"dur\":453.2337188720703}]\n");
}

TEST_CASE("decode_block: no bytes crash it or make it take memory") {
  const std::string packed = encode_block(random_trace_text(2000));
  for (std::size_t size = 0; size < packed.size(); ++size)
    static_cast<void>(decode_block(packed.substr(0, size)));
  std::mt19937_64 random(11);
  for (int i = 0; i < 2000; ++i) {
    std::string broken = packed;
    for (int k = 0; k < 3; ++k) broken[random() % broken.size()] = static_cast<char>(random());
    const std::optional<std::string> text = decode_block(broken);
    if (text) CHECK(text->size() <= kMostBlockBytes);
  }
}

TEST_CASE("decode_block: sizes beyond what a block may have are refused") {
  std::string large;
  put_number(large, kMostBlockBytes + 1);
  CHECK(!decode_block(large));
  std::string list;
  put_number(list, 5);
  put_number(list, std::uint64_t{1} << 60);
  put_text(list, "x");
  CHECK(!decode_block(list));
  CHECK(!decode_block(""));
}
