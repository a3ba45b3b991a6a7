#include "base/problems.h"
#include "scan/event_scanner.h"
#include "scan/list_reader.h"
#include "support/memory_source.h"
#include "support/random_trace.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

struct ReadChunk {
  std::string text;
  std::uint64_t offset;
  bool at_event_start;
  bool last;
};

std::vector<ReadChunk> read_chunks(ByteSource& source, std::size_t chunk_bytes) {
  ChunkReader reader(source, chunk_bytes);
  std::vector<ReadChunk> chunks;
  Chunk chunk;
  while (reader.next(chunk)) {
    REQUIRE(chunk.size <= chunk_bytes);
    REQUIRE(chunk.buffer[chunk.size] == '\0');
    chunks.push_back({std::string(chunk.text()), chunk.offset, chunk.at_event_start, chunk.last});
  }
  CHECK_FALSE(reader.next(chunk));
  return chunks;
}

std::vector<ReadChunk> read_chunks(const std::string& text, std::size_t chunk_bytes) {
  MemorySource source(text);
  return read_chunks(source, chunk_bytes);
}

void check_chunks(const std::string& text, std::size_t chunk_bytes) {
  std::string joined;
  const std::vector<ReadChunk> chunks = read_chunks(text, chunk_bytes);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    REQUIRE(chunks[i].offset == joined.size());
    REQUIRE(chunks[i].last == (i + 1 == chunks.size()));
    if (chunks[i].at_event_start)
      REQUIRE(find_event_start(text, chunks[i].offset) == joined.size());
    joined += chunks[i].text;
    // Cut where a chunk has to end, or before it at the last start of an event.
    const bool full = chunks[i].text.size() == chunk_bytes;
    if (!chunks[i].last) REQUIRE(full == !chunks[i + 1].at_event_start);
  }
  REQUIRE(joined == text);
}

}  // namespace

TEST_CASE("chunk_reader: an empty input gives one empty chunk") {
  const std::vector<ReadChunk> chunks = read_chunks("", 100);
  REQUIRE(chunks.size() == 1);
  CHECK(chunks[0].text == "");
  CHECK(chunks[0].last);
  CHECK_FALSE(chunks[0].at_event_start);
}

TEST_CASE("chunk_reader: cuts at the last start of an event") {
  const std::string text = R"([{"ph":1},{"ph":2},{"ph":3},{"zz":4},{"ph":5}])";
  const std::vector<ReadChunk> chunks = read_chunks(text, 25);
  REQUIRE(chunks.size() == 3);
  CHECK(chunks[0].text == R"([{"ph":1},{"ph":2},)");
  CHECK_FALSE(chunks[0].at_event_start);
  CHECK(chunks[1].text == R"({"ph":3},{"zz":4},)");
  CHECK(chunks[1].at_event_start);
  CHECK(chunks[1].offset == 19);
  CHECK(chunks[2].text == R"({"ph":5}])");
  CHECK(chunks[2].at_event_start);
  CHECK(chunks[2].last);
}

TEST_CASE("chunk_reader: a text of exactly one chunk is followed by an empty last one") {
  const std::vector<ReadChunk> chunks = read_chunks(std::string(64, ' '), 64);
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[0].text.size() == 64);
  CHECK_FALSE(chunks[0].last);
  CHECK(chunks[1].text.empty());
  CHECK(chunks[1].last);
}

TEST_CASE("chunk_reader: the chunks are the text, for chunks of all sizes") {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const std::string text =
        random_trace({.seed = seed, .style = static_cast<TraceStyle>(seed), .events = 60});
    for (std::size_t size = 16; size < 700; size += 7) check_chunks(text, size);
    for (std::size_t size = text.size() - 3; size < text.size() + 3; ++size)
      check_chunks(text, size);
  }
}

TEST_CASE("chunk_reader: reads chunks of 1 MiB") {
  const std::string text =
      random_trace({.seed = 2, .style = TraceStyle::compact, .events = 12'000});
  REQUIRE(text.size() > kChunkBytes);
  MemorySource source(text);
  ChunkReader reader(source);
  Chunk chunk;
  REQUIRE(reader.next(chunk));
  CHECK(chunk.size > kChunkBytes - 2000);
  CHECK(chunk.size <= kChunkBytes);
  CHECK(chunk.text() == text.substr(0, chunk.size));
}

TEST_CASE("chunk_reader: an error of the source comes through") {
  FailingSource source(R"([{"ph":1},{"ph":2},{"ph":3},{"ph":4)", Error("a.json", "bad disk"));
  ChunkReader reader(source, 20);
  Chunk chunk;
  REQUIRE(reader.next(chunk));
  CHECK(chunk.text() == R"([{"ph":1},)");
  REQUIRE(reader.next(chunk));
  CHECK_THROWS_WITH_AS(reader.next(chunk), "a.json: bad disk", Error);
}
