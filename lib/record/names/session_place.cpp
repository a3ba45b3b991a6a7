#include "record/names/session_place.h"

#include <algorithm>
#include <utility>

namespace traceloom::record {
namespace {

RunPlace given_place(const Options& options) {
  return {options.rank, options.local_rank, options.world_size, options.local_world_size,
          options.node_rank};
}

// A program that does not know the size says 0.
std::int64_t size_or_unknown(std::int64_t size) {
  return size > 0 ? size : kFromEnvironment;
}

}  // namespace

Options settled_options(Options options) {
  options.folder = NameTemplate(options.folder).expand(identity_of(options));
  const RunPlace place = known_place(given_place(options));
  options.rank = std::max<std::int64_t>(place.rank, 0);
  options.local_rank = std::max<std::int64_t>(place.local_rank, 0);
  options.node_rank = std::max<std::int64_t>(place.node_rank, 0);
  options.world_size = std::max<std::int64_t>(place.world_size, 0);
  options.local_world_size = std::max<std::int64_t>(place.local_world_size, 0);
  return options;
}

RunIdentity identity_of(const Options& options) {
  RunPlace place = known_place(given_place(options));
  place.world_size = size_or_unknown(place.world_size);
  place.local_world_size = size_or_unknown(place.local_world_size);
  return {default_run_name(), find_place(place)};
}

}  // namespace traceloom::record
