// Writes the digests of traces, and names their files.
#pragma once

#include "base/problems.h"
#include "input/input_list.h"
#include "output/sink.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

// digest_targets: the files in which the digests of several traces are put.
//
//   digest_targets(expand_inputs({"run/"}), {"run/"}, "digests");
//   // run/node1/rank3.json.gz → digests/node1/rank3.digest

// The name of a trace without .json, .json.gz, .log or .gz, and with .digest.
std::string digest_name(const std::string& trace);

// The path of each input's digest in `folder`, in the order of `inputs`. A trace that was found in
// a folder of `arguments` keeps the way from there; of several arguments, with the name of the
// folder. Throws UsageError if two traces would have one digest.
std::vector<std::string> digest_targets(const std::vector<Input>& inputs,
                                        const std::vector<std::string>& arguments,
                                        const std::string& folder);

// write_digest: writes the digest of a trace.
//
//   write_digest("rank3.json.gz", *open_file_sink("rank3.digest"), 2);

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
