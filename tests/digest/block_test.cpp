#include "digest/block.h"

#include "digest/frames.h"
#include "digest/records.h"
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
        "\1\2\3\4\5",
        "[{\"\1\":\"\2\",\"\4\":\"\5\"}]",
        "[1,2]",
        "[1,-0]",
        "[1,2,]",
        "[,1]",
        "[1 ,2]",
        "[1,2",
        "[[1,2],[3,4,5]]",
        "[{\"l\":[-1,9223372036854775807,999999999999999999]}]",
        "[{\"l\":[{\"a\":[1,2]},{\"a\":[3,4,5]} , {\"a\":[]}],\"ts\":1},{\"ts\":2}]",
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

TEST_CASE("encode_block: lists of whole numbers are coded by the list beside them") {
  std::string text = "[";
  std::mt19937_64 random(3);
  for (int event = 0; event < 200; ++event) {
    std::string nodes;
    std::string lines;
    for (int i = 0; i < 100; ++i) {
      const auto node = static_cast<int>(random() % 64);
      nodes += (i > 0 ? "," : "") + std::to_string(node);
      lines += (i > 0 ? "," : "") + std::to_string(1000 + node * node);
    }
    text.append("{\"samples\":[")
        .append(nodes)
        .append("],\"lines\":[")
        .append(lines)
        .append("]},\n");
  }
  const std::string packed = encode_block(text);
  CHECK(packed.size() < 200 * 100 * 9 / 8);  // a sample has 6 bits
  CHECK((decode_block(packed) == text));
}

TEST_CASE("encode_block: multiples of a period are counts") {
  std::string text = "[";
  std::mt19937_64 random(5);
  for (int event = 0; event < 5000; ++event) {
    text += "{\"dur\":";
    append_double(static_cast<double>(random() % 1000 + 1) * 1.5384627112173259 / 1000, text);
    text += "},";
  }
  const std::string packed = encode_block(text);
  CHECK(packed.size() < 5000 * 15 / 8);  // a count has 10 bits
  CHECK((decode_block(packed) == text));
}

TEST_CASE("encode_block: events are a few bytes each") {
  const std::string text = random_trace_text(std::size_t{1} << 20);
  const std::string packed = encode_block(text);
  // Two random numbers of 9 and 27 bits a line of 45 bytes.
  CHECK(packed.size() < text.size() * 13 / 100);
  CHECK(decode_block(packed) == text);
}

// If this fails, digests that are stored somewhere would become other texts: raise kVersion.
TEST_CASE("decode_block: a block of version 2") {
  REQUIRE(kVersion == 2);
  const std::string hex =
      "c60196015278da538dae562ac850b2528a50d251ca4bcc4d05321981cc9262252b261da594d222205debaac345"
      "84321da5c4a274a040b55271626e414e2a90c9a2a39493990766d5d6aa11630a732d532c17005862265d0a1278"
      "da63494fcdcd65294acd29050010da03671a1ef885fb2272175a8e23d5ec947f08e1702f35badab434f83c0057";
  std::string packed;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    packed += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  CHECK(decode_block(packed) ==
        "[{\"ph\":\"X\",\"name\":\"gemm\",\"ts\":12.5,\"dur\":3},\n"
        "{\"ph\":\"X\",\"name\":\"relu\",\"ts\":15.25,\"dur\":1,\"args\":{\"samples\":[4,5,4],"
        "\"lines\":[40,50,40]}},\n"
        "{\"ph\":\"X\",\"name\":\"gemm\",\"ts\":17.125,\"dur\":453.2337188720703}]\n");
}

TEST_CASE("decode_block: no bytes crash it or make it take memory") {
  std::string lists = "[";
  for (int i = 1; i < 60; ++i) {
    lists += "{\"l\":[1,2," + std::to_string(i) + "],\"dur\":";
    append_double(i * 1.5384627112173259e-3, lists);
    lists += "},";
  }
  std::mt19937_64 random(11);
  for (const std::string& packed : {encode_block(random_trace_text(2000)), encode_block(lists)}) {
    for (std::size_t size = 0; size < packed.size(); ++size)
      static_cast<void>(decode_block(packed.substr(0, size)));
    for (int i = 0; i < 1000; ++i) {
      std::string broken = packed;
      for (int k = 0; k < 3; ++k) broken[random() % broken.size()] = static_cast<char>(random());
      const std::optional<std::string> text = decode_block(broken);
      if (text) CHECK(text->size() <= kMostBlockBytes);
    }
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
