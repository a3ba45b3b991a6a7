#include "base/problems.h"
#include "output/sink.h"
#include "support/gzip_text.h"
#include "support/memory_sink.h"
#include "support/random_text.h"
#include "support/zstd_text.h"

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
  PackedSink sink(std::make_unique<MemorySink>(out, &closed), Packing::gzip, level);
  for (const std::string& piece : pieces) sink.write(piece);
  sink.close();
  CHECK(closed);
  return out;
}

std::string in_blocks(const std::vector<CompressedBlock>& blocks) {
  std::string out;
  PackedSink sink(std::make_unique<MemorySink>(out), Packing::gzip, 1);
  for (const CompressedBlock& block : blocks) sink.write_block(block);
  sink.close();
  return out;
}

}  // namespace

TEST_CASE("packed_sink: what is written is one member that any level's reader unpacks") {
  for (int level = kMinLevel; level <= kMaxLevel; ++level)
    for (const std::string& text : texts()) {
      CAPTURE(level);
      CAPTURE(text.size());
      CHECK((gunzip_one_member(written({text}, level)) == text));
    }
}

TEST_CASE("packed_sink: nothing is lost around the size of a block") {
  for (const int level : {1, 4})
    for (const std::size_t size : {kPackedBlockBytes - 1, kPackedBlockBytes, kPackedBlockBytes + 1})
      for (const std::string& text : {random_trace_text(size), random_bytes(size)})
        CHECK((gunzip_one_member(written({text}, level)) == text));
}

TEST_CASE("packed_sink: how the text is cut into writes changes no byte") {
  const std::string text = random_trace_text(2'500'000);
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size(); at += 777) pieces.push_back(text.substr(at, 777));
  CHECK((written(pieces, 1) == written({text}, 1)));
  CHECK((gunzip_one_member(written(pieces, 1)) == text));
}

TEST_CASE("packed_sink: nothing written is gzip of nothing") {
  CHECK(written({}, 1) == "\x1f\x8b\x08\0\0\0\0\0\0\xff\x03\0\0\0\0\0\0\0\0\0"s);
  CHECK(gunzip_one_member(written({}, 1)).empty());
}

TEST_CASE("packed_sink: the header holds no time and no name") {
  CHECK(written({"[]"}, 6).substr(0, 10) == "\x1f\x8b\x08\0\0\0\0\0\0\xff"s);
}

TEST_CASE("packed_sink: blocks of different levels make one member") {
  std::string text;
  std::vector<CompressedBlock> blocks;
  for (int level = kMinLevel; level <= kMaxLevel; ++level)
    for (const std::string& block : {random_trace_text(100'000), ""s, random_bytes(70'000)}) {
      text += block;
      blocks.push_back(compress_block(block, level));
      CHECK(blocks.back().text_size == block.size());
    }
  CHECK((gunzip_one_member(in_blocks(blocks)) == text));
}

TEST_CASE("packed_sink: blocks and writes keep their order") {
  std::string out;
  PackedSink sink(std::make_unique<MemorySink>(out), Packing::gzip, 2);
  sink.write("one ");
  sink.write_block(compress_block("two ", 2));
  sink.write_block(compress_block("three ", 9));
  sink.write("four");
  sink.close();
  CHECK(gunzip_one_member(out) == "one two three four");
}

TEST_CASE("packed_sink: a block looks back at nothing before it") {
  const std::string text = random_trace_text(200'000);
  for (int level = kMinLevel; level <= kMaxLevel; ++level) {
    CAPTURE(level);
    compress_block(text, level);
    // The same text again: with history it would shrink to almost nothing and not unpack alone.
    CHECK((gunzip_one_member(in_blocks({compress_block(text, level)})) == text));
  }
}

TEST_CASE("packed_sink: a block depends on its text and level, not on what came before") {
  const std::string text = random_trace_text(200'000);
  const std::string other = random_trace_text(250'000, 7);
  const std::string noise = random_bytes(70'000);
  for (int level = kMinLevel; level <= kMaxLevel; ++level) {
    CAPTURE(level);
    CompressedBlock fresh;
    std::thread([&] { fresh = compress_block(text, level); }).join();
    for (const int before : {1, 2, 3, 9}) {
      compress_block(other, before);
      compress_block(noise, before);
      const CompressedBlock block = compress_block(text, level);
      CHECK((block.packed == fresh.packed));
      CHECK(block.crc32 == fresh.crc32);
    }
  }
}

TEST_CASE("packed_sink: a block larger than the libraries take at once is whole") {
  std::string text = random_bytes(100'000);
  text.resize(17'000'000, ' ');
  text += random_bytes(100'000);
  for (const int level : {1, 4}) {
    const CompressedBlock block = compress_block(text, level);
    CHECK(block.text_size == text.size());
    CHECK((gunzip_one_member(in_blocks({block})) == text));
  }
}

TEST_CASE("packed_sink: the level matters") {
  const std::string text = random_trace_text(300'000);
  CHECK(compress_block(text, 1).packed.size() < text.size() / 3);
  CHECK(compress_block(text, 9).packed.size() < compress_block(text, 4).packed.size());
}

TEST_CASE("packed_sink: an error of the target comes through") {
  const Error full("out.json.gz", "No space left on device");
  PackedSink sink(std::make_unique<FailingSink>(10'000, full), Packing::gzip, 1);
  CHECK_THROWS_WITH_AS(sink.write(random_bytes(2'000'000)), "out.json.gz: No space left on device",
                       Error);
  PackedSink trailer(std::make_unique<FailingSink>(12, full), Packing::gzip, 1);
  CHECK_THROWS_WITH_AS(trailer.close(), "out.json.gz: No space left on device", Error);
}

TEST_CASE("packed_sink: blocks without a frame can be joined to another sink, in pieces") {
  for (const std::string& text : texts()) {
    CAPTURE(text.size());
    std::string deflated;
    PackedSink part(std::make_unique<MemorySink>(deflated), Packing::gzip, 1, Framing::none);
    part.write(text);
    part.write_block(compress_block("tail", 1));
    part.close();
    std::string out;
    PackedSink whole(std::make_unique<MemorySink>(out), Packing::gzip, 1);
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

TEST_CASE("packed_sink: zstd is frames that say their size, of blocks and of writes") {
  for (const std::string& text : texts())
    for (const int level : {0, 1, 3, 9}) {
      std::string out;
      PackedSink sink(std::make_unique<MemorySink>(out), Packing::zstd, level);
      sink.write(text);
      sink.write_block(compress_block("block", 3, Packing::zstd));
      sink.write(text);
      sink.close();
      CHECK((unzstd(out) == text + "block" + text));
    }
  std::string nothing;
  PackedSink empty(std::make_unique<MemorySink>(nothing), Packing::zstd, 0);
  empty.close();
  CHECK((nothing == compress_block("", 3, Packing::zstd).packed));
  CHECK(unzstd(nothing).empty());
}

TEST_CASE("packed_sink: a block of zstd has frames of 4 MiB, which earlier blocks do not change") {
  const std::string text = random_trace_text((std::size_t{9} << 20) + 5);
  std::string fresh;
  std::thread([&] { fresh = compress_block(text, 3, Packing::zstd).packed; }).join();
  for (const int before : {1, 9}) {
    compress_block(random_bytes(70'000), before, Packing::zstd);
    CHECK((compress_block(text, 3, Packing::zstd).packed == fresh));
  }
  CHECK((unzstd(fresh) == text));
  CHECK(fresh.size() < text.size() / 3);
  CHECK(ZSTD_getFrameContentSize(fresh.data(), fresh.size()) == std::size_t{4} << 20);
}

TEST_CASE("packed_sink: a name asks for a packing by its ending, in any case of letters") {
  for (const char* name : {"a.gz", "a.json.gz", "a.GZ", "a.Gz", "a.tgz", "a.TGZ", ".gz"})
    CHECK(packing_of_name(name) == Packing::gzip);
  for (const char* name : {"a.zst", "a.json.ZST", ".zst"})
    CHECK(packing_of_name(name) == Packing::zstd);
  for (const char* name : {"a", "gz", "", "-", "a.gz.json", "a.gzip", "agz", "a.tar", "azst"})
    CHECK(packing_of_name(name) == Packing::none);
}
