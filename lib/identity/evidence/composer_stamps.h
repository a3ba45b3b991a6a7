// stamps_of: the stamps that Composer puts on each file of a rank, and that its merger keeps: the
// rank, the training thread, the clock sync of the cycle. Our recorder does the same.
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
  std::string tid;                      // as in Mark::tid
  std::optional<std::int64_t> sync_us;  // absent if no cycle begins in the file

  template <typename Wire>
  void wire(Wire& wire) {
    wire(rank, tid, sync_us);
  }

  friend bool operator==(const Stamp&, const Stamp&) = default;
  friend bool operator<(const Stamp& a, const Stamp& b) {
    return std::tie(a.rank, a.tid, a.sync_us) < std::tie(b.rank, b.tid, b.sync_us);
  }
};

// Returns all stamps, or those of one rank; at most as many as DistinctMarks keeps marks.
std::set<Stamp> stamps_of(const FileEvidence& evidence,
                          std::optional<std::int64_t> rank = std::nullopt);

}  // namespace traceloom
