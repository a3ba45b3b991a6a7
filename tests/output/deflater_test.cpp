#include "output/sink.h"
#include "support/gzip_text.h"
#include "support/memory_sink.h"
#include "support/random_text.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

std::string as_member(CompressedBlock block) {
  std::string out;
  PackedSink sink(std::make_unique<MemorySink>(out), Packing::gzip, 1);
  sink.write_block(block);
  sink.close();
  return out;
}

void check_round_trip(Deflater& deflater, int level) {
  CAPTURE(level);
  for (const std::size_t size : {0, 1, 1'000, 65'535, 65'536, 300'000})
    for (const std::string& text : {random_trace_text(size), random_bytes(size)}) {
      CAPTURE(size);
      CompressedBlock block{"", deflater.crc32(0, text), 2 * text.size()};
      block.crc32 = deflater.crc32(block.crc32, text);
      deflater.append_block(text, level, block.packed);
      deflater.append_block(text, level, block.packed);
      CHECK((gunzip_one_member(as_member(block)) == text + text));
    }
}

}  // namespace

TEST_CASE("deflater: zlib's blocks unpack at every level, also those that ISA-L takes over") {
  const std::unique_ptr<Deflater> deflater = make_zlib_deflater();
  for (int level = 1; level <= 9; ++level) check_round_trip(*deflater, level);
}

TEST_CASE("deflater: ISA-L's blocks unpack at every level") {
  const std::unique_ptr<Deflater> deflater = make_isal_deflater();
  if (deflater == nullptr) return;  // a build without ISA-L
  for (int level = 1; level <= 3; ++level) check_round_trip(*deflater, level);
}

TEST_CASE("deflater: the bytes depend on the text, not on where the library's memory lies") {
  // Where a stream lay anywhere, its address decided where the start of a text comes again: after a
  // short one, after a run of zeros, and after 2 KiB that do not compress.
  constexpr int kDeflaters = 300;
  const std::string start = random_trace_text(40);
  const std::string again = start + "-" + start + "+" + start.substr(1) + "=" + start.substr(2);
  const std::string noise = random_bytes(2081);
  std::vector<std::string> texts{random_trace_text(16), random_trace_text(200'000),
                                 std::string(4096, '\0') + again + std::string(20, 'x')};
  for (int i = 0; i < 20; ++i)
    texts.push_back(noise.substr(0, 2049) + random_bytes(4, i) + noise.substr(2053) +
                    noise.substr(0, 24) + std::string(1500, 'x'));
  for (const std::size_t size : {9, 20, 30, 40, 50, 100, 200}) {
    const std::string text = random_trace_text(size);
    texts.push_back(text + text);
  }
  std::vector<std::unique_ptr<Deflater>> deflaters;
  std::vector<std::string> first;
  for (int i = 0; i < kDeflaters; ++i) {
    deflaters.push_back(make_isal_deflater());
    if (deflaters.back() == nullptr) return;  // a build without ISA-L
    std::vector<std::string> blocks;
    for (const std::string& text : texts)
      for (int level = 1; level <= 3; ++level)
        deflaters.back()->append_block(text, level, blocks.emplace_back());
    if (i == 0) first = blocks;
    CAPTURE(i);
    CHECK((blocks == first));
  }
}

TEST_CASE("deflater: the largest block that is allowed is whole") {
  std::string text = random_bytes(kMaxDeflateBytes);
  for (const std::unique_ptr<Deflater>& deflater : {make_zlib_deflater(), make_isal_deflater()}) {
    if (deflater == nullptr) continue;
    CompressedBlock block{"", deflater->crc32(0, text), text.size()};
    deflater->append_block(text, 1, block.packed);
    CHECK((gunzip_one_member(as_member(block)) == text));
  }
}
