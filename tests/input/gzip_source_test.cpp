#include "input/gzip_source.h"

#include "support/gzip_text.h"
#include "support/memory_source.h"
#include "support/random_text.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

struct NamedInflater {
  std::string name;
  std::unique_ptr<Inflater> (*make)();
};

// Every case runs with all that this build has.
std::vector<NamedInflater> inflaters() {
  std::vector<NamedInflater> all{{"zlib", make_zlib_inflater}};
  if (make_isal_inflater() != nullptr) all.push_back({"ISA-L", make_isal_inflater});
  return all;
}

struct Result {
  std::string text;
  ProblemCounts problems;
};

Result unpack(const NamedInflater& inflater, const std::string& data,
              std::size_t buffer_bytes = kGzipBufferBytes, std::size_t piece_bytes = 64 << 10) {
  GzipSource source(std::make_unique<MemorySource>(data), inflater.make(), {}, buffer_bytes);
  std::string text = read_all(source, piece_bytes);
  return {std::move(text), source.problems()};
}

void check_whole(const Result& result, const std::string& text) {
  CHECK((result.text == text));
  CHECK(result.problems.empty());
}

void check_only(const Result& result, Problem problem, std::uint64_t offset) {
  CHECK(result.problems.kinds() == std::vector<Problem>{problem});
  CHECK(result.problems.count(problem) == 1);
  CHECK(result.problems.first_offset(problem) == offset);
}

// Deflate data bit by bit: numbers lowest bit first, Huffman codes highest bit first.
class BitWriter {
 public:
  void number(unsigned value, int bits) {
    for (int i = 0; i < bits; ++i) bit(value >> i & 1U);
  }
  void code(unsigned value, int bits) {
    for (int i = bits - 1; i >= 0; --i) bit(value >> i & 1U);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void bit(unsigned value) {
    if (count_ % 8 == 0) bytes_ += '\0';
    bytes_.back() = static_cast<char>(bytes_.back() | static_cast<char>(value << (count_ % 8)));
    ++count_;
  }
  std::string bytes_;
  int count_ = 0;
};

constexpr unsigned kFarthestDistance = 29;  // 32768 bytes, with all extra bits set
constexpr unsigned kNoDistance = 30;

// A member of `literals` times "a", then a match of 258 or 3 bytes.
std::string bad_match(std::size_t literals, bool longest, unsigned distance_code) {
  BitWriter bits;
  bits.number(1, 1);  // the last block
  bits.number(1, 2);  // fixed codes: RFC 1951, 3.2.6
  for (std::size_t i = 0; i < literals; ++i) bits.code(0x30 + 'a', 8);
  if (longest)
    bits.code(0xc5, 8);
  else
    bits.code(1, 7);
  bits.code(distance_code, 5);
  bits.number(8191, 13);
  bits.code(0, 7);  // end of block
  return gzip("").substr(0, 10) + bits.bytes() + std::string(8, 'x');
}

}  // namespace

TEST_CASE("gzip_source: reads one member at every level") {
  for (const NamedInflater& inflater : inflaters()) {
    CAPTURE(inflater.name);
    for (const std::string& text : {random_trace_text(700'000), random_bytes(300'000)})
      for (const int level : {0, 1, 6, 9}) check_whole(unpack(inflater, gzip(text, level)), text);
  }
}

TEST_CASE("gzip_source: the size of neither buffer matters") {
  const std::string text = random_trace_text(90'000) + random_bytes(5'000);
  const std::string data = gzip(text.substr(0, 40'000)) + gzip("") + gzip(text.substr(40'000));
  for (const NamedInflater& inflater : inflaters()) {
    CAPTURE(inflater.name);
    for (const std::size_t buffer_bytes : {1, 2, 7, 8, 9, 100, 4096})
      for (const std::size_t piece_bytes : {1, 13, 1000, 1'000'000})
        check_whole(unpack(inflater, data, buffer_bytes, piece_bytes), text);
  }
}

TEST_CASE("gzip_source: fills the buffer unless the data ends") {
  const std::string text = random_trace_text(500'000);
  for (const NamedInflater& inflater : inflaters()) {
    GzipSource source(
        std::make_unique<MemorySource>(gzip(text.substr(0, 1000)) + gzip(text.substr(1000))),
        inflater.make(), {}, 64);
    std::string buffer(200'000, '\0');
    CHECK(source.read(buffer) == 200'000);
    CHECK(source.read(buffer) == 200'000);
    CHECK(source.read(buffer) == 100'000);
    CHECK(source.read(buffer) == 0);
    CHECK(source.read(buffer) == 0);
  }
}

TEST_CASE("gzip_source: reads a hundred thousand tiny members, empty ones among them") {
  const std::string one = gzip("{},") + gzip("");
  std::string data;
  std::string text;
  for (int i = 0; i < 50'000; ++i) {
    data += one;
    text += "{},";
  }
  for (const NamedInflater& inflater : inflaters()) check_whole(unpack(inflater, data), text);
}

TEST_CASE("gzip_source: skips extra field, name, comment and header checksum") {
  std::string extra = random_bytes(30'000);
  std::string name = "rank3.json";
  std::string comment(70'000, 'c');
  gz_header header = {};
  header.extra = zlib_bytes(extra.data());
  header.extra_len = static_cast<uInt>(extra.size());
  header.name = zlib_bytes(name.data());
  header.comment = zlib_bytes(comment.data());
  header.hcrc = 1;
  const std::string data = gzip("[1]", 6, &header);
  for (const NamedInflater& inflater : inflaters()) {
    check_whole(unpack(inflater, data + data), "[1][1]");
    check_whole(unpack(inflater, data + data, 5), "[1][1]");
  }
}

TEST_CASE("gzip_source: ignores zeros after the data without a word") {
  const std::string data = gzip("[1]") + std::string(70'000, '\0');
  for (const NamedInflater& inflater : inflaters()) check_whole(unpack(inflater, data), "[1]");
}

TEST_CASE("gzip_source: reads a member behind zeros") {
  const std::string data = gzip("[1,") + std::string(512, '\0') + gzip("2]");
  for (const NamedInflater& inflater : inflaters()) check_whole(unpack(inflater, data), "[1,2]");
}

TEST_CASE("gzip_source: notices other bytes after the data") {
  for (const NamedInflater& inflater : inflaters())
    for (const std::string garbage :
         {"x", "garbage garbage", "\x1f\x8c", "\x1f\x8b\x07 abcdefghijkl"}) {
      CAPTURE(garbage);
      const Result result = unpack(inflater, gzip("[1]") + garbage);
      CHECK(result.text == "[1]");
      check_only(result, Problem::gzip_trailing_garbage, 3);
    }
}

TEST_CASE("gzip_source: a cut at any byte keeps all that could be unpacked" *
          doctest::test_suite("long")) {
  const std::string text = random_trace_text(3'000) + random_bytes(200);
  const std::string data = gzip(text.substr(0, 1000)) + gzip(text.substr(1000), 1);
  for (const NamedInflater& inflater : inflaters()) {
    CAPTURE(inflater.name);
    const std::size_t first_member = gzip(text.substr(0, 1000)).size();
    std::size_t before = 0;
    for (std::size_t size = 1; size < data.size(); ++size) {
      if (size == first_member) continue;
      const Result result = unpack(inflater, data.substr(0, size));
      const Result by_zlib = unpack({"zlib", make_zlib_inflater}, data.substr(0, size), 1, 1);
      CAPTURE(size);
      CHECK(by_zlib.text.starts_with(result.text));
      CHECK(by_zlib.text.size() - result.text.size() <= kMaxBytesLostAtCut);
      CHECK((result.text == text.substr(0, result.text.size())));
      CHECK(result.text.size() >= before);
      before = result.text.size();
      check_only(result, Problem::gzip_cut, result.text.size());
    }
    CHECK(before == text.size());  // cut inside the last checksum
  }
}

TEST_CASE("gzip_source: damage in the middle keeps what comes before it" *
          doctest::test_suite("long")) {
  const std::string text = random_trace_text(400'000);
  const std::string whole = gzip(text);
  for (const NamedInflater& inflater : inflaters()) {
    CAPTURE(inflater.name);
    int damaged_count = 0;
    for (std::size_t at = 10; at < whole.size() - 8; at += 997) {
      CAPTURE(at);
      std::string data = whole;
      data[at] = static_cast<char>(data[at] ^ 0x55);
      data[at + 1] = static_cast<char>(data[at + 1] ^ 0xff);
      const std::size_t piece_bytes = 1 + at % 5000;
      const Result result = unpack(inflater, data, kGzipBufferBytes, piece_bytes);
      const Result prefix = unpack({"zlib", make_zlib_inflater}, whole.substr(0, at));
      CHECK(result.text.starts_with(prefix.text));
      // The libraries may notice the damage at different places; up to there their texts agree.
      const Result by_zlib = unpack({"zlib", make_zlib_inflater}, data);
      CHECK((by_zlib.text.starts_with(result.text) || result.text.starts_with(by_zlib.text)));
      CHECK_FALSE(result.problems.empty());
      if (result.problems.count(Problem::gzip_damaged) != 0) {
        check_only(result, Problem::gzip_damaged, result.text.size());
        ++damaged_count;
      }
    }
    CHECK(damaged_count > 0);
  }
}

TEST_CASE("gzip_source: damage found while the caller's buffer is tiny loses nothing") {
  const std::string text = random_trace_text(60'000);
  // One stored block, made not the last one, then a block of the type that does not exist.
  std::string data = gzip(text, 0);
  constexpr std::size_t kHeaderBytes = 10;
  REQUIRE(data[kHeaderBytes] == 1);
  data[kHeaderBytes] = 0;
  data.resize(data.size() - 8);
  data += '\x07';
  for (const NamedInflater& inflater : inflaters())
    for (const std::size_t piece_bytes : {1, 100, 50'000, 60'000, 60'001, 1'000'000}) {
      CAPTURE(inflater.name);
      CAPTURE(piece_bytes);
      const Result result = unpack(inflater, data, kGzipBufferBytes, piece_bytes);
      CHECK((result.text == text));
      check_only(result, Problem::gzip_damaged, 60'000);
    }
}

TEST_CASE("gzip_source: a match without a valid distance adds no byte") {
  for (const NamedInflater& inflater : inflaters())
    for (const unsigned distance_code : {kFarthestDistance, kNoDistance})
      for (const std::size_t literals : {0, 1, 5, 100, 1000})
        for (const bool longest : {false, true})
          for (const std::size_t piece_bytes : {1, 3, 50, 104, 300, 1003, 1100, 5000}) {
            CAPTURE(inflater.name);
            CAPTURE(literals);
            CAPTURE(longest);
            CAPTURE(distance_code);
            CAPTURE(piece_bytes);
            const Result result = unpack(inflater, bad_match(literals, longest, distance_code),
                                         kGzipBufferBytes, piece_bytes);
            CHECK(result.text == std::string(literals, 'a'));
            check_only(result, Problem::gzip_damaged, literals);
          }
}

TEST_CASE("gzip_source: a wrong checksum or size keeps the data and goes on") {
  for (const NamedInflater& inflater : inflaters())
    for (const std::size_t from_end : {8, 5, 4, 1}) {
      CAPTURE(inflater.name);
      CAPTURE(from_end);
      std::string data = gzip("[1,");
      data[data.size() - from_end] = static_cast<char>(data[data.size() - from_end] ^ 1);
      const Result result = unpack(inflater, data + gzip("2]"));
      CHECK(result.text == "[1,2]");
      check_only(result, Problem::gzip_checksum, 3);
    }
}

TEST_CASE("gzip_source: something else than gzip at the start is damage") {
  for (const NamedInflater& inflater : inflaters())
    for (const std::string data :
         {"no gzip at all", "\x1f\x8b\x09 reserved", "\x1f\x8b\x08\xe0 flags"}) {
      const Result result = unpack(inflater, data);
      CHECK(result.text.empty());
      check_only(result, Problem::gzip_damaged, 0);
    }
}

TEST_CASE("gzip_source: gzip of nothing and nothing at all are empty") {
  for (const NamedInflater& inflater : inflaters()) {
    check_whole(unpack(inflater, gzip("")), "");
    const Result nothing = unpack(inflater, "");
    CHECK(nothing.text.empty());
    check_only(nothing, Problem::gzip_cut, 0);
  }
}

TEST_CASE("gzip_source: gzip inside gzip says once, in the text's offsets, what is wrong below") {
  const std::string text = random_bytes(100'000);
  const std::string outer = gzip(gzip(text));
  for (const NamedInflater& inflater : inflaters()) {
    const auto unpack_twice = [&](const std::string& data) {
      auto inner =
          std::make_unique<GzipSource>(std::make_unique<MemorySource>(data), inflater.make());
      GzipSource source(std::move(inner), inflater.make());
      std::string unpacked = read_all(source);
      return Result{std::move(unpacked), source.problems()};
    };
    check_whole(unpack_twice(outer), text);
    const Result cut = unpack_twice(outer.substr(0, outer.size() / 2));
    CHECK((cut.text == text.substr(0, cut.text.size())));
    CHECK(cut.text.size() > 40'000);
    check_only(cut, Problem::gzip_cut, cut.text.size());
    const Result garbage = unpack_twice(outer + "garbage");
    CHECK((garbage.text == text));
    check_only(garbage, Problem::gzip_trailing_garbage, text.size());
  }
}

TEST_CASE("gzip_source: an error of the file comes through") {
  for (const NamedInflater& inflater : inflaters()) {
    const std::string data = gzip(random_bytes(1'000'000));
    GzipSource source(std::make_unique<FailingSource>(data.substr(0, 600'000),
                                                      Error("a.gz", "Input/output error")),
                      inflater.make());
    CHECK_THROWS_WITH_AS(read_all(source), "a.gz: Input/output error", Error);
  }
}

TEST_CASE("gzip_source: counts the bytes of the file, not of the text") {
  const std::string data = gzip(random_trace_text(200'000));
  GzipSource source(std::make_unique<MemorySource>(data), make_inflater(), {}, 100);
  CHECK(source.stored_size() == data.size());
  std::string buffer(1000, '\0');
  source.read(buffer);
  CHECK(source.stored_bytes_read() >= 100);
  CHECK(source.stored_bytes_read() < data.size());
  read_all(source);
  CHECK(source.stored_bytes_read() == data.size());
}

// Found by the fuzzer: ISA-L counts a byte after its input that it had no right to use.
TEST_CASE("gzip_source: damaged text that does not fit the output ends the data") {
  using namespace std::string_literals;
  const std::string data =
      "\x1f\x8b\x08\0\0\0\0\0\x02\x03\x8b\xe6\x2c\x26\0\x93\x41\xec\x82\x0c\xfe\xff\xff\xfb"s
      "\x2c\x29\x06\x32\x1d\xb9\xa9\xb9\xd8\xed\x84\xcb\x0e\xb8\x49\x40"s +
      std::string(47, '\xe1') + "\xb3\xb3\xb3\x1f\x8b\x08\x1f\x8b\x2c\x01\xe1\xe1\x71"s;
  for (const NamedInflater& inflater : inflaters()) {
    CAPTURE(inflater.name);
    for (std::size_t buffer = 1; buffer < 100; ++buffer)
      CHECK(unpack(inflater, data, buffer, 64 * buffer).problems.kinds() ==
            std::vector<Problem>{Problem::gzip_damaged});
  }
}
