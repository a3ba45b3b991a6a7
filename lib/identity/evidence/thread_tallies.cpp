#include "identity/evidence/thread_tallies.h"

#include "identity/evidence/id_hash.h"

namespace traceloom {

void ThreadTallier::find(const Event& event, std::string_view pid, std::string_view tid) {
  const bool is_counter = event.phase == 'C' && tid.empty();
  if (all_.empty()) first_event_ = EventTally::hash_of_first(event);
  last_pid_ = pid;
  last_tid_ = tid;
  scratch_.assign(pid).append(1, is_counter ? '\0' : '\n').append(tid);
  const std::uint32_t number = texts_.intern(scratch_);
  if (number == all_.size()) {
    const std::string process = canonical_id(pid);
    pid_sizes_.push_back(pid.size());
    ThreadTally& made = all_.emplace_back();
    made.id = hash_of_id(process + (is_counter ? '\0' : '\n') + canonical_id(tid));
    if (!is_counter) made.pid = hash_of_id(process);
    if (process.starts_with("\"[TP")) merged_ranks_.insert(process.substr(1, process.find(']')));
  }
  last_ = &all_[number];
}

EventTally ThreadTallier::sum() const {
  EventTally all;
  for (const ThreadTally& thread : all_)
    all.append({thread.events, thread.first_ns, thread.last_ns, thread.sum_ns, thread.lengths_ns,
                first_event_});
  return all;
}

void ThreadTallier::clear() {
  texts_.clear();
  pid_sizes_.clear();
  all_.clear();
  merged_ranks_.clear();
  last_ = nullptr;
}

void ThreadTallies::append(const ThreadTallier& later) {
  for (const ThreadTally& thread : later.all()) {
    const auto place = std::ranges::lower_bound(all, thread.id, {}, &ThreadTally::id);
    if (place != all.end() && place->id == thread.id)
      place->add(thread);
    else if (all.size() < kMostThreads)
      all.insert(place, thread);
    else
      is_complete = false;
  }
  if (merged_ranks.size() < kMostThreads)
    merged_ranks.insert(later.merged_ranks().begin(), later.merged_ranks().end());
}

}  // namespace traceloom
