#include "summarize/exchange_rows.h"

#include "team/wire.h"

#define XXH_INLINE_ALL  // xxHash needs this macro to be used without its library
#include <xxhash.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

// The keys are exchanged in so many slices.
constexpr std::uint64_t kSlices = 16;

// Returns the rows of one slice whose keys belong to this process.
std::vector<SummaryRow> rows_of_slice(Team& team, SummaryGrouping by, const RowCollector& own,
                                      std::uint64_t slice, std::size_t threads) {
  std::vector<WireWriter> writers(team.size());
  own.for_each_part([&](std::string_view key, const auto& part) {
    const std::uint64_t hash = XXH3_64bits(key.data(), key.size());
    if (hash % kSlices == slice) writers[hash / kSlices % team.size()](part());
  });
  std::vector<std::string> messages;
  messages.reserve(writers.size());
  for (WireWriter& writer : writers) messages.push_back(writer.take());
  messages = team.exchange(std::move(messages));
  std::vector<SummaryRow> rows;
  team.agree([&] {
    RowCollector collector(by);
    std::deque<RowPart> parts;
    for (std::string& message : messages) {
      for (WireReader reader(message); !reader.at_end();) {
        reader(parts.emplace_back());
        collector.add(parts.back());
      }
      message = {};
    }
    rows = collector.compute(threads);
  });
  return rows;
}

}  // namespace

std::vector<SummaryRow> exchange_rows(Team& team, SummaryGrouping by, const RowCollector& own,
                                      std::size_t most, std::size_t threads) {
  if (team.is_alone()) return own.compute(threads);
  std::vector<SummaryRow> rows;
  for (std::uint64_t slice = 0; slice < kSlices; ++slice)
    for (SummaryRow& row : rows_of_slice(team, by, own, slice, threads))
      rows.push_back(std::move(row));
  std::vector<SummaryRow> all;
  team.gather(to_wire(rows), [&](std::size_t, const std::string& bytes) {
    for (SummaryRow& row : from_wire<std::vector<SummaryRow>>(bytes)) {
      if (all.size() == most) throw_too_many_rows(most);
      all.push_back(std::move(row));
    }
  });
  return all;
}

}  // namespace traceloom
