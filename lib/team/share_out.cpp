#include "team/share_out.h"

#include "team/wire.h"

#include <filesystem>
#include <numeric>
#include <system_error>

namespace traceloom {
namespace {

// Opening a file costs as much as reading so many bytes of text.
constexpr std::uint64_t kFileWeight = std::uint64_t{64} << 10;

std::uint64_t weight_of(const std::string& path) {
  std::error_code none;
  const std::uintmax_t bytes = std::filesystem::file_size(path, none);
  return kFileWeight + (none ? 0 : bytes);
}

}  // namespace

std::vector<FileBlock> cut_by_weight(const std::vector<std::uint64_t>& weights,
                                     std::size_t processes) {
  const std::uint64_t total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  std::vector<FileBlock> blocks;
  std::uint64_t before = 0;
  std::size_t file = 0;
  for (std::size_t i = 0; i < processes; ++i) {
    const std::size_t begin = file;
    // A file belongs to the process in whose share of the total its middle lies.
    const auto share_end =
        static_cast<double>(total) * static_cast<double>(i + 1) / static_cast<double>(processes);
    while (file < weights.size() &&
           (i + 1 == processes ||
            static_cast<double>(before) + static_cast<double>(weights[file]) / 2 < share_end))
      before += weights[file++];
    blocks.push_back({begin, file});
  }
  return blocks;
}

FileBlock share_out(Team& team, const std::vector<std::string>& paths) {
  if (team.is_alone()) return {0, paths.size()};
  std::vector<FileBlock> blocks;
  if (team.is_first()) {
    std::vector<std::uint64_t> weights;
    weights.reserve(paths.size());
    for (const std::string& path : paths) weights.push_back(weight_of(path));
    blocks = cut_by_weight(weights, team.size());
  }
  return broadcast(team, std::move(blocks)).at(team.rank());
}

}  // namespace traceloom
