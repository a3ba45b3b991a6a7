#include "scan/slices_around.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace traceloom {

void SlicesAround::add(std::int64_t start_ns, std::int64_t end_ns) {
  slices_.push_back({start_ns, end_ns});
  latest_ns_ = std::max(latest_ns_, start_ns);
}

std::vector<std::int64_t> SlicesAround::first_ends(const std::vector<std::int64_t>& moments) const {
  std::vector<Slice> by_start = slices_;
  std::ranges::sort(by_start, {}, &Slice::start_ns);
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> open_ends;
  std::vector<std::int64_t> ends;
  ends.reserve(moments.size());
  auto next = by_start.begin();
  for (const std::int64_t moment : moments) {
    for (; next != by_start.end() && next->start_ns < moment; ++next) open_ends.push(next->end_ns);
    while (!open_ends.empty() && open_ends.top() <= moment) open_ends.pop();
    ends.push_back(open_ends.empty() ? kNever : open_ends.top());
  }
  return ends;
}

void SlicesAround::drop_passed(const std::vector<std::int64_t>& moments) {
  const auto older_end = slices_.begin() + static_cast<std::ptrdiff_t>(slices_.size() / 2);
  const auto is_passed = [&](const Slice& slice) {
    const auto inside = std::ranges::upper_bound(moments, slice.start_ns);
    return slice.end_ns <= latest_ns_ && (inside == moments.end() || *inside >= slice.end_ns);
  };
  slices_.erase(std::remove_if(slices_.begin(), older_end, is_passed), older_end);
}

}  // namespace traceloom
