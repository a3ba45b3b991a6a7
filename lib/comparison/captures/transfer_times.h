// TransferTimes: how long data moved in each collective of a run; before that, its ranks waited for
// the last one.
//
//   const TransferTimes transfers(run);
//   if (const auto ns = transfers.of(rank_index, {span.start_ns, span.end_ns})) use(*ns);
#pragma once

#include "run/intervals.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace traceloom {

class TransferTimes {
 public:
  explicit TransferTimes(const Run& run);

  // `rank` is an index into Run::ranks. Returns nullopt if the time is not that of a collective
  // that was found on other ranks, too. The result is the time of the rank on which the collective
  // took least, since all ranks leave it together.
  std::optional<std::int64_t> of(std::size_t rank, const Interval& time) const;

 private:
  // Start, end and transfer of each rank's collectives, ascending.
  std::vector<std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>> ranks_;
};

}  // namespace traceloom
