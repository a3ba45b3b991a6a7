// Round trips of all stored traces, and how small their digests are.
#include "digest/block.h"
#include "digest/records.h"
#include "digest/write/write_digest.h"
#include "input/digest_source.h"
#include "input/open.h"
#include "support/memory_sink.h"
#include "support/memory_source.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

const std::string kTraces = TRACELOOM_SHARED_DIR "/traces";

std::vector<std::string> stored_traces() {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kTraces)) {
    const std::string path = entry.path().string();
    const bool is_trace = path.ends_with(".json") || path.ends_with(".json.gz");
    if (entry.is_regular_file() && is_trace && entry.file_size() > 0) paths.push_back(path);
  }
  return paths;
}

// Nothing packs the picture in base64 that is 1 % of the one trace.
std::size_t most_per_mille(const std::string& path) {
  return path.ends_with("/v8-sampling.json.gz") ? 53 : 50;
}

}  // namespace

TEST_SUITE("corpus") {
  TEST_CASE("every stored trace comes back byte for byte, those of 1 MB and more in 5 %") {
    if (!fs::exists(kTraces)) {
      MESSAGE("skipped: there is no ", kTraces);
      return;
    }
    std::size_t read = 0;
    for (const std::string& path : stored_traces()) {
      CAPTURE(path);
      std::string text;
      try {
        text = read_all(*open_input(path));
      } catch (const Error&) {
        continue;  // no trace at all
      }
      std::string digest;
      MemorySink sink(digest);
      write_digest(path, sink, 1);
      DigestSource source(std::make_unique<MemorySource>(digest), "a.digest", 1);
      CHECK((read_all(source) == text));
      if (text.size() >= 1'000'000)
        CHECK(digest.size() * 1000 <= text.size() * most_per_mille(path));
      ++read;
    }
    CHECK(read > 400);
  }
}
