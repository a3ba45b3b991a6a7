// write_digest: writes the digest of a trace.
//
//   write_digest("rank3.json.gz", *open_file_sink("rank3.digest"), 2);
#pragma once

#include "base/problems.h"
#include "output/sink.h"

#include <cstdint>
#include <string>

namespace traceloom {

// The sizes of a digest and of the text in it.
struct WrittenDigest {
  std::uint64_t text_bytes = 0;
  std::uint64_t digest_bytes = 0;
  ProblemCounts problems = {};  // of the trace's compression; the digest keeps them
};

// Writes all of the digest, and does not close the sink. The bytes do not depend on `threads` (0:
// one a core). Throws Error if the trace cannot be read or is a digest; damage that leaves
// something to read goes into the digest.
WrittenDigest write_digest(const std::string& path, Sink& sink, unsigned threads);

}  // namespace traceloom
