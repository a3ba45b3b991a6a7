// Error: ends the work on one input or output, and names the place where the work failed.
//
//   throw Error("rank3.json.gz", 8812, "string is not closed");
//   // what(): "rank3.json.gz: byte 8812: string is not closed"
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace traceloom {

// Everything in lib/ throws it. Errors that no caller handles (keep_going handles those of one
// input) end in tools/common/run_tool.cpp: a line on stderr and exit code 2. A problem that does
// not end the work is a Problem (problems.h).
class Error : public std::runtime_error {
 public:
  // `problem` says what is wrong and, where there is one, what to try next.
  Error(const std::string& path, const std::string& problem);
  // `offset_bytes` counts in the uncompressed text.
  Error(const std::string& path, std::uint64_t offset_bytes, const std::string& problem);

  const std::string& path() const { return path_; }
  const std::optional<std::uint64_t>& offset_bytes() const { return offset_bytes_; }
  const std::string& problem() const { return problem_; }

 private:
  std::string path_;
  std::optional<std::uint64_t> offset_bytes_;
  std::string problem_;
};

// The same Error with `advice` after its text: "...; --keep-going leaves it out".
Error with_advice(const Error& error, const std::string& advice);

// An Error with what the system says about `error_number` (an errno): "rank3.json: No such file or
// directory".
Error system_error(const std::string& path, int error_number);

// An Error that says the command line makes no sense; the message stands alone, without a path.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace traceloom
