// SpanStack: which span of a row is around which, and how much of each is its own time.
//
//   SpanStack stack;
//   for (const HostSpan& span : sorted) {                      // by start, longer ones first
//     const SpanStack::Place place = stack.find(span.start_ns, span.end_ns);
//     if (place.around != SpanStack::kNone) self_ns[place.around] -= place.counted_ns;
//     stack.push(node++, span.end_ns, place);                  // unless it has none in it
//   }
//
// Spans nest by time. One that crosses the end of the span that it starts in is taken for the next
// one beside that, and what both share counts for the earlier one: so no instant counts twice, and
// the own times of all spans of a row, each its counted time without that of those right in it, add
// up to the time in which any of them runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace traceloom {

class SpanStack {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Place {
    std::uint32_t around = kNone;  // the node of the innermost span around it
    std::int64_t counted_ns = 0;   // of its length
    bool crosses = false;          // the end of another span
  };

  // Where the next span of the row is.
  Place find(std::int64_t start_ns, std::int64_t end_ns) {
    std::int64_t from_ns = start_ns;
    bool crosses = false;
    while (!open_.empty() && !holds(open_.back(), start_ns, end_ns)) {
      if (open_.back().end_ns > start_ns) {
        crosses = true;
        from_ns = std::max(from_ns, open_.back().end_ns);
      }
      open_.pop_back();
    }
    if (!open_.empty()) from_ns = std::max(from_ns, open_.back().from_ns);
    const std::uint32_t around = open_.empty() ? kNone : open_.back().node;
    return {around, end_ns - std::min(from_ns, end_ns), crosses};
  }

  // The innermost span around one that is no span of the row itself.
  std::uint32_t around(std::int64_t start_ns, std::int64_t end_ns) const {
    for (std::size_t i = open_.size(); i-- > 0;)
      if (holds(open_[i], start_ns, end_ns)) return open_[i].node;
    return kNone;
  }

  // It may have others in it, whose `around` is `node`.
  void push(std::uint32_t node, std::int64_t end_ns, const Place& place) {
    open_.push_back({node, end_ns - place.counted_ns, end_ns});
  }

  // Begins another row.
  void clear() { open_.clear(); }

 private:
  struct Open {
    std::uint32_t node;
    std::int64_t from_ns;  // of what counts
    std::int64_t end_ns;
  };

  // A span of no length at the end of another is in it.
  static bool holds(const Open& outer, std::int64_t start_ns, std::int64_t end_ns) {
    return end_ns <= outer.end_ns && (start_ns < outer.end_ns || start_ns == end_ns);
  }

  std::vector<Open> open_;
};

}  // namespace traceloom
