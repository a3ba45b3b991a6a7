// LastStarts: when the last event of each track begins. An X without dur ends there.
//
//   if (plan.files[file].lacks_durations) chunk.last_starts.note(target.number, start_ns);
//   of_file.add(chunk.last_starts);
//   std::int64_t end_ns = of_file.of(target.number);
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace traceloom {

// Empty for nearly all files: starts are noted only in files that have an X without dur.
class LastStarts {
 public:
  // `track` is TrackTarget::number.
  void note(std::uint32_t track, std::int64_t start_ns) {
    std::int64_t& last = starts_.try_emplace(track, start_ns).first->second;
    last = std::max(last, start_ns);
  }
  void add(const LastStarts& other) {
    for (const auto& [track, start_ns] : other.starts_) note(track, start_ns);
  }
  // Returns the start of a track that has been noted.
  std::int64_t of(std::uint32_t track) const { return starts_.at(track); }
  bool empty() const { return starts_.empty(); }
  void clear() { starts_.clear(); }

 private:
  std::unordered_map<std::uint32_t, std::int64_t> starts_;
};

}  // namespace traceloom
