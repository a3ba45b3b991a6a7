// What Composer stamps on each file of a rank, and its merger leaves as it is: the rank, the thread
// that trains, the clock sync of the cycle. Our recorder does the same.
//
//   for (const Stamp& stamp : stamps_of(evidence)) by_stamp.emplace(stamp, file);
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace traceloom {

struct FileEvidence;

struct Stamp {
  std::int64_t rank = 0;
  std::string tid;                      // as Mark::tid
  std::optional<std::int64_t> sync_us;  // none where no cycle begins in the file

  friend bool operator==(const Stamp&, const Stamp&) = default;
  friend bool operator<(const Stamp& a, const Stamp& b) {
    return std::tie(a.rank, a.tid, a.sync_us) < std::tie(b.rank, b.tid, b.sync_us);
  }
};

// All, or those of one rank; no more than DistinctMarks keeps marks.
std::set<Stamp> stamps_of(const FileEvidence& evidence,
                          std::optional<std::int64_t> rank = std::nullopt);

}  // namespace traceloom
