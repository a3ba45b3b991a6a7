// SpanStack: finds the span around a span of a row, and each span's own time.
//
//   SpanStack stack;
//   for (const HostSpan& span : sorted) {                      // by start, longer ones first
//     const SpanStack::Place place = stack.find(span.start_ns, span.end_ns);
//     if (place.around != SpanStack::kNone) self_ns[place.around] -= place.counted_ns;
//     stack.push(node++, span.end_ns, place);                  // unless it has none in it
//   }
//
// Spans nest by time. If a span crosses the end of the span in which it starts, it becomes that
// span's sibling, and the time that both share counts for the earlier one. So no instant counts
// twice. The own time of a span is its counted time without that of its children; the own times of
// all spans of a row add up to the time in which any of them runs.
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
    std::uint32_t around = kNone;  // node of the innermost span around it
    std::int64_t counted_ns = 0;   // nanoseconds of its length that count
    bool crosses = false;          // it crosses the end of another span
  };

  // Returns the place of the next span of the row.
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

  // Returns the innermost span around a span that does not belong to the row itself.
  std::uint32_t around(std::int64_t start_ns, std::int64_t end_ns) const {
    for (std::size_t i = open_.size(); i-- > 0;)
      if (holds(open_[i], start_ns, end_ns)) return open_[i].node;
    return kNone;
  }

  // Opens a span, which then can be the `around` of later ones as `node`.
  void push(std::uint32_t node, std::int64_t end_ns, const Place& place) {
    open_.push_back({node, end_ns - place.counted_ns, end_ns});
  }

  // Starts another row.
  void clear() { open_.clear(); }

 private:
  struct Open {
    std::uint32_t node;
    std::int64_t from_ns;  // start of the time that counts
    std::int64_t end_ns;
  };

  // A span without length at the end of another span lies in that span.
  static bool holds(const Open& outer, std::int64_t start_ns, std::int64_t end_ns) {
    return end_ns <= outer.end_ns && (start_ns < outer.end_ns || start_ns == end_ns);
  }

  std::vector<Open> open_;
};

}  // namespace traceloom
