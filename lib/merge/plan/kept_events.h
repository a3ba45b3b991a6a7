// KeptEvents: remembers by their offsets which events of a file stay.
//
//   KeptEvents kept;
//   kept.add(event.offset, true);    // in any order
//   kept.finish();
//   kept.keeps(event.offset)         // for an event that was added
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace traceloom {

// Whether an event may stay by another one: s t f, b e S T p F. (An n stands alone.)
inline bool is_linked_phase(char phase) {
  return phase == 's' || phase == 't' || phase == 'f' || phase == 'b' || phase == 'e' ||
         phase == 'S' || phase == 'T' || phase == 'p' || phase == 'F';
}

// Memory: eight bytes for each event that stays, or for each that does not: whichever are fewer.
// Thread-safe once finished.
class KeptEvents {
 public:
  void add(std::uint64_t offset, bool kept) { (kept ? kept_ : dropped_).push_back(offset); }
  void finish() {
    lists_kept_ = kept_.size() <= dropped_.size();
    offsets_ = std::move(lists_kept_ ? kept_ : dropped_);
    std::vector<std::uint64_t>().swap(kept_);
    std::vector<std::uint64_t>().swap(dropped_);
    offsets_.shrink_to_fit();
    std::sort(offsets_.begin(), offsets_.end());
  }
  bool keeps(std::uint64_t offset) const {
    return std::binary_search(offsets_.begin(), offsets_.end(), offset) == lists_kept_;
  }

 private:
  std::vector<std::uint64_t> kept_;
  std::vector<std::uint64_t> dropped_;
  std::vector<std::uint64_t> offsets_;
  bool lists_kept_ = true;
};

}  // namespace traceloom
