// Writes the trace of one rank in the layout and order of torch's profiler.
//
//   write_rank({.path = "rank0.json", .rank = 0, .ranks = 8, .megabytes = 64}, names);
//
// The order is that of real files and not that of time: all operators of the run on the host, then
// its memory, its Python frames, and for each launch the kernel, the call, and the ends of their
// arrow. As Composer does, the file says its rank and, in the time of its events, when the clocks
// were compared.
#pragma once

#include "bench/names.h"

#include <cstdint>
#include <string>

namespace traceloom::bench {

struct RankFile {
  std::string path;
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  double megabytes = 64;  // megabytes of text, approximately; 1 MB is 1,000,000 bytes
  std::uint64_t seed = 1;
  bool gzip = false;
};

struct WrittenFile {
  std::uint64_t text_bytes = 0;
  std::uint64_t events = 0;
  std::int64_t steps = 0;
  std::int64_t clock_offset_ns = 0;  // nanoseconds by which the rank's clock is ahead of rank 0's
};

// Throws std::runtime_error when the file cannot be written.
WrittenFile write_rank(const RankFile& file, const Names& names);

}  // namespace traceloom::bench
