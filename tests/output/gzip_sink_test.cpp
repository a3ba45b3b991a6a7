#include "output/gzip_sink.h"

#include "base/problems.h"
#include "support/gzip_text.h"
#include "support/memory_sink.h"
#include "support/random_text.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using namespace traceloom;
using namespace std::string_literals;

namespace {

constexpr std::size_t kBiggestStoredBlock = 65'535;

// Trace text and noise of sizes around the libraries' stored blocks.
std::vector<std::string> texts() {
  std::vector<std::string> all{"", "[", std::string(300'000, ' ')};
  for (const std::size_t size : {std::size_t{100}, kBiggestStoredBlock, kBiggestStoredBlock + 1}) {
    all.push_back(random_trace_text(size));
    all.push_back(random_bytes(size));
  }
  return all;
}

std::string written(const std::vector<std::string>& pieces, int level) {
  std::string out;
  bool closed = false;
  GzipSink sink(std::make_unique<MemorySink>(out, &closed), level);
  for (const std::string& piece : pieces) sink.write(piece);
  sink.close();
  CHECK(closed);
  return out;
}

std::string in_blocks(const std::vector<CompressedBlock>& blocks) {
  std::string out;
  GzipSink sink(std::make_unique<MemorySink>(out), kDefaultGzipLevel);
  for (const CompressedBlock& block : blocks) sink.write_block(block);
  sink.close();
  return out;
}

}  // namespace

TEST_CASE("gzip_sink: what is written is one member that any level's reader unpacks") {
  for (int level = kMinGzipLevel; level <= kMaxGzipLevel; ++level)
    for (const std::string& text : texts()) {
      CAPTURE(level);
      CAPTURE(text.size());
      CHECK((gunzip_one_member(written({text}, level)) == text));
    }
}

TEST_CASE("gzip_sink: nothing is lost around the size of a block") {
  for (const int level : {1, 4})
    for (const std::size_t size : {kGzipBlockBytes - 1, kGzipBlockBytes, kGzipBlockBytes + 1})
      for (const std::string& text : {random_trace_text(size), random_bytes(size)})
        CHECK((gunzip_one_member(written({text}, level)) == text));
}

TEST_CASE("gzip_sink: how the text is cut into writes changes no byte") {
  const std::string text = random_trace_text(2'500'000);
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size(); at += 777) pieces.push_back(text.substr(at, 777));
  CHECK((written(pieces, 1) == written({text}, 1)));
  CHECK((gunzip_one_member(written(pieces, 1)) == text));
}

TEST_CASE("gzip_sink: nothing written is gzip of nothing") {
  CHECK(written({}, 1) == "\x1f\x8b\x08\0\0\0\0\0\0\xff\x03\0\0\0\0\0\0\0\0\0"s);
  CHECK(gunzip_one_member(written({}, 1)).empty());
}

TEST_CASE("gzip_sink: the header holds no time and no name") {
  CHECK(written({"[]"}, 6).substr(0, 10) == "\x1f\x8b\x08\0\0\0\0\0\0\xff"s);
}

TEST_CASE("gzip_sink: blocks of different levels make one member") {
  std::string text;
  std::vector<CompressedBlock> blocks;
  for (int level = kMinGzipLevel; level <= kMaxGzipLevel; ++level)
    for (const std::string& block : {random_trace_text(100'000), ""s, random_bytes(70'000)}) {
      text += block;
      blocks.push_back(compress_block(block, level));
      CHECK(blocks.back().text_size == block.size());
    }
  CHECK((gunzip_one_member(in_blocks(blocks)) == text));
}

TEST_CASE("gzip_sink: blocks and writes keep their order") {
  std::string out;
  GzipSink sink(std::make_unique<MemorySink>(out), 2);
  sink.write("one ");
  sink.write_block(compress_block("two ", 2));
  sink.write_block(compress_block("three ", 9));
  sink.write("four");
  sink.close();
  CHECK(gunzip_one_member(out) == "one two three four");
}

TEST_CASE("gzip_sink: a block looks back at nothing before it") {
  const std::string text = random_trace_text(200'000);
  for (int level = kMinGzipLevel; level <= kMaxGzipLevel; ++level) {
    CAPTURE(level);
    compress_block(text, level);
    // The same text again: with history it would shrink to almost nothing and not unpack alone.
    CHECK((gunzip_one_member(in_blocks({compress_block(text, level)})) == text));
  }
}

TEST_CASE("gzip_sink: a block depends on its text and level, not on what came before") {
  const std::string text = random_trace_text(200'000);
  const std::string other = random_trace_text(250'000, 7);
  const std::string noise = random_bytes(70'000);
  for (int level = kMinGzipLevel; level <= kMaxGzipLevel; ++level) {
    CAPTURE(level);
    CompressedBlock fresh;
    std::thread([&] { fresh = compress_block(text, level); }).join();
    for (const int before : {1, 2, 3, 9}) {
      compress_block(other, before);
      compress_block(noise, before);
      const CompressedBlock block = compress_block(text, level);
      CHECK((block.deflated == fresh.deflated));
      CHECK(block.crc32 == fresh.crc32);
    }
  }
}

TEST_CASE("gzip_sink: a block larger than the libraries take at once is whole") {
  std::string text = random_bytes(100'000);
  text.resize(17'000'000, ' ');
  text += random_bytes(100'000);
  for (const int level : {1, 4}) {
    const CompressedBlock block = compress_block(text, level);
    CHECK(block.text_size == text.size());
    CHECK((gunzip_one_member(in_blocks({block})) == text));
  }
}

TEST_CASE("gzip_sink: the level matters") {
  const std::string text = random_trace_text(300'000);
  CHECK(compress_block(text, 1).deflated.size() < text.size() / 3);
  CHECK(compress_block(text, 9).deflated.size() < compress_block(text, 4).deflated.size());
}

TEST_CASE("gzip_sink: an error of the target comes through") {
  const Error full("out.json.gz", "No space left on device");
  GzipSink sink(std::make_unique<FailingSink>(10'000, full), 1);
  CHECK_THROWS_WITH_AS(sink.write(random_bytes(2'000'000)), "out.json.gz: No space left on device",
                       Error);
  GzipSink trailer(std::make_unique<FailingSink>(12, full), 1);
  CHECK_THROWS_WITH_AS(trailer.close(), "out.json.gz: No space left on device", Error);
}

TEST_CASE("gzip_sink: blocks without a frame can be joined to another sink, in pieces") {
  for (const std::string& text : texts()) {
    CAPTURE(text.size());
    std::string deflated;
    GzipSink part(std::make_unique<MemorySink>(deflated), kDefaultGzipLevel, GzipFrame::none);
    part.write(text);
    part.write_block(compress_block("tail", kDefaultGzipLevel));
    part.close();
    std::string out;
    GzipSink whole(std::make_unique<MemorySink>(out), kDefaultGzipLevel);
    whole.write("head");
    const std::size_t middle = deflated.size() / 2;
    whole.write_block({deflated.substr(0, middle), 0, 0});
    whole.write_block({deflated.substr(middle), 0, 0});
    whole.write_block({{}, part.crc32(), part.text_size()});
    whole.write("end");
    whole.close();
    CHECK(part.text_size() == text.size() + 4);
    CHECK((gunzip_one_member(out) == "head" + text + "tail" + "end"));
  }
}

TEST_CASE("gzip_sink: a name asks for gzip by its ending, in any case of letters") {
  for (const char* name : {"a.gz", "a.json.gz", "a.GZ", "a.Gz", "a.tgz", "a.TGZ", ".gz"})
    CHECK(is_gzip_name(name));
  for (const char* name : {"a", "gz", "", "-", "a.gz.json", "a.gzip", "agz", "a.tar"})
    CHECK_FALSE(is_gzip_name(name));
}
