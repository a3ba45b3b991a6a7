#include "identity/evidence/composer_stamps.h"

#include "identity/evidence/file_evidence.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

std::set<Stamp> stamps_of(const FileEvidence& evidence, std::optional<std::int64_t> rank) {
  using Thread = std::pair<std::string_view, std::string_view>;
  std::map<Thread, std::vector<std::int64_t>> syncs;
  for (const Mark& mark : evidence.rank_marks)
    if (!rank || mark.value == *rank) syncs[{mark.pid, mark.tid}];
  for (const Mark& sync : evidence.syncs)
    if (const auto thread = syncs.find({sync.pid, sync.tid}); thread != syncs.end())
      thread->second.push_back(sync.value);
  std::set<Stamp> stamps;
  for (const Mark& mark : evidence.rank_marks) {
    if (rank && mark.value != *rank) continue;
    const std::vector<std::int64_t>& of_thread = syncs.at({mark.pid, mark.tid});
    if (of_thread.empty()) stamps.insert({mark.value, mark.tid, std::nullopt});
    for (const std::int64_t sync_us : of_thread) {
      if (stamps.size() >= DistinctMarks::kMaxMarks) return stamps;
      stamps.insert({mark.value, mark.tid, sync_us});
    }
  }
  return stamps;
}

}  // namespace traceloom
