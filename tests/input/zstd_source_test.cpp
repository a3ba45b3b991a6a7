#include "input/zstd_source.h"

#include "base/problems.h"
#include "support/memory_source.h"
#include "support/random_text.h"
#include "support/tries.h"
#include "support/zstd_text.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

using namespace traceloom;
using namespace std::string_literals;

namespace {

struct Read {
  std::string text;
  ProblemCounts problems;
};

Read unpacked(const std::string& data, unsigned threads = 1,
              std::size_t buffer_bytes = kZstdBufferBytes, std::size_t piece_bytes = 64 << 10) {
  ZstdSource source(std::make_unique<MemorySource>(data), "a.zst", threads, {}, buffer_bytes);
  std::string text = read_all(source, piece_bytes);
  return {std::move(text), source.problems()};
}

// Every way to read gives the same.
void check_unpacked(const std::string& data, const std::string& text,
                    const std::vector<Problem>& kinds = {}, std::uint64_t offset = 0) {
  for (const unsigned threads : {1U, 3U})
    for (const std::size_t buffer_bytes : {std::size_t{64}, std::size_t{5000}, kZstdBufferBytes})
      for (const std::size_t piece_bytes : {std::size_t{1000}, std::size_t{1} << 20}) {
        CAPTURE(threads);
        CAPTURE(buffer_bytes);
        const Read read = unpacked(data, threads, buffer_bytes, piece_bytes);
        CHECK((read.text == text));
        CHECK(read.problems.kinds() == kinds);
        if (!kinds.empty()) CHECK(read.problems.first_offset(kinds[0]) == offset);
      }
}

std::vector<std::string> pieces_of(const std::string& text, std::size_t bytes) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size(); at += bytes) pieces.push_back(text.substr(at, bytes));
  return pieces;
}

const std::string kSkippable = "\x5a\x2a\x4d\x18\x03\0\0\0abc"s;

}  // namespace

TEST_CASE("zstd_source: frames of all kinds are one text") {
  const std::string a = random_trace_text(300'000);
  const std::string b = random_bytes(200'000);
  check_unpacked(zstd_frame(a), a);
  check_unpacked(zstd_frame(a) + zstd_frame("") + zstd_frame(b) + zstd_frame(a), a + b + a);
  check_unpacked(zstd_stream(pieces_of(a, 10'000)), a);
  check_unpacked(zstd_stream({b}) + zstd_frame(a) + zstd_stream({}) + zstd_stream({a}), b + a + a);
  check_unpacked(kSkippable + zstd_frame(a) + kSkippable + std::string(1000, '\0') + zstd_frame(b) +
                     std::string(70, '\0'),
                 a + b);
  // One that is too large to be unpacked at once, and one that is too large for the buffer.
  const std::string large = random_trace_text(kMostZstdFrameBytes + 1);
  check_unpacked(zstd_frame(large) + zstd_frame(a), large + a);
  const std::string noise = random_bytes(kZstdBufferBytes + 1);
  check_unpacked(zstd_frame(noise) + zstd_frame(a), noise + a);
}

TEST_CASE("zstd_source: a cut keeps the blocks that are whole" * doctest::test_suite("long")) {
  const std::string text = random_trace_text(50'000);
  constexpr std::size_t kPiece = 5000;
  // Where each block ends: the sizes of streams of the first pieces, without end and checksum.
  const std::vector<std::string> pieces = pieces_of(text, kPiece);
  const std::size_t empty_end = 3 + 4;
  const std::string whole = zstd_stream(pieces);
  std::vector<std::size_t> ends;
  for (std::size_t count = 1; count <= pieces.size(); ++count)
    ends.push_back(
        zstd_stream({pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(count)}).size() -
        empty_end);
  for (std::size_t cut = whole.size() - 1; cut > 611; cut -= 611) {
    const std::size_t kept = kPiece * static_cast<std::size_t>(std::ranges::count_if(
                                          ends, [&](std::size_t end) { return end <= cut; }));
    check_unpacked(whole.substr(0, cut), text.substr(0, kept), {Problem::zstd_cut}, kept);
    check_unpacked(zstd_frame("[") + whole.substr(0, cut), "[" + text.substr(0, kept),
                   {Problem::zstd_cut}, kept + 1);
  }
  for (std::size_t cut = 0; cut < 4; ++cut) {
    CAPTURE(cut);
    const std::vector<Problem> kinds(cut == 0 ? 0 : 1, Problem::zstd_cut);
    check_unpacked(zstd_frame("ab") + whole.substr(0, cut), "ab", kinds, 2);
  }
}

TEST_CASE("zstd_source: damage keeps what comes before its block") {
  const std::string text = random_trace_text(40'000);
  std::string damaged = zstd_stream(pieces_of(text, 10'000));
  const std::size_t third =
      zstd_stream({text.substr(0, 10'000), text.substr(10'000, 10'000)}).size() - 7;
  damaged[third] |= 6;  // a type of block that does not exist
  check_unpacked(damaged, text.substr(0, 20'000), {Problem::zstd_damaged}, 20'000);
  check_unpacked(zstd_frame("[") + damaged + zstd_frame("]"), "[" + text.substr(0, 20'000),
                 {Problem::zstd_damaged}, 20'001);
  check_unpacked("no frame", "", {Problem::zstd_damaged}, 0);
  check_unpacked(zstd_frame(text) + "no frame", text, {Problem::zstd_trailing_garbage}, 40'000);
  // A frame of zstd 0.7, which the library unpacks only if it has all of it.
  const std::string old("\x27\xb5\x2f\xfd\x42\x4c\0\0\0\0\x88\0\xe8\xb3\xe8\0\0\0\0", 19);
  check_unpacked(zstd_frame(text) + old, text, {Problem::zstd_trailing_garbage}, 40'000);
}

TEST_CASE("zstd_source: a wrong checksum is counted, and reading goes on") {
  const std::string text = random_trace_text(300'000);
  std::string wrong = zstd_stream(pieces_of(text, 70'000));
  wrong.back() ^= 1;
  check_unpacked(wrong, text, {Problem::zstd_checksum}, text.size());
  check_unpacked(zstd_frame("[") + wrong + zstd_stream({"1"}) + zstd_frame("]"), "[" + text + "1]",
                 {Problem::zstd_checksum}, text.size() + 1);
}

TEST_CASE("zstd_source: any change of a byte ends in a text and counts" *
          doctest::test_suite("long")) {
  const std::string text = random_trace_text(3000);
  const std::string data = zstd_stream(pieces_of(text, 1000)) + zstd_frame(text);
  // A day changes each third byte.
  for (std::size_t at = 0; at < data.size(); at += is_night() ? 1 : 3)
    for (const int change : {1, 0x10, 0x80, 0xff}) {
      std::string changed = data;
      changed[at] = static_cast<char>(changed[at] ^ change);
      try {
        const Read read = unpacked(changed, 1, 300, 700);
        CHECK(read.text.size() < 200'000);
      } catch (const Error&) {  // another window, or a dictionary
      }
    }
}

TEST_CASE("zstd_source: what needs too much memory or a dictionary is refused with a word") {
  const std::string magic = "\x28\xb5\x2f\xfd"s;
  const std::string last_block = "\x09\0\0a"s;
  check_unpacked(magic + "\0\x88"s + last_block, "a");  // 128 MiB
  CHECK_THROWS_WITH_AS(
      unpacked(magic + "\0\x90"s + last_block),
      "a.zst: needs more than 128 MiB of memory to be unpacked; pack it again with "
      "a smaller window (zstd -dc --long=31 FILE | zstd), or copy it again",
      Error);
  CHECK_THROWS_WITH_AS(
      unpacked(magic + "\x01\0\x07"s + last_block),
      "a.zst: is packed with a dictionary; unpack it first (zstd -d -D DICTIONARY)", Error);
}

TEST_CASE("zstd_source: a failing input fails the reader") {
  const std::string data = zstd_frame(random_bytes(600'000)) + zstd_frame("]");
  ZstdSource source(std::make_unique<FailingSource>(data.substr(0, 500'000),
                                                    Error("a.zst", "Input/output error")),
                    "a.zst", 2);
  CHECK_THROWS_WITH_AS(read_all(source), "a.zst: Input/output error", Error);
}
