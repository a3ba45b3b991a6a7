// HostOrder: the spans of a rank's host threads, row by row, outer spans before the spans in them.
//
//   HostOrder order(rank, {.frames = true});
//   for (const HostRef& ref : order.refs()) use(order.span(ref).start_ns, ref.kind());
//
// It takes eight bytes a span: the spans stay in the columns, unless they are packed there.
#pragma once

#include "run/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace traceloom {

// If two spans begin and end together, the span of the smaller kind is the outer one.
enum class HostKind : std::uint8_t { frame, host, operation, call };
inline constexpr std::size_t kHostKinds = 4;

// The place of a span in the columns of its rank.
class HostRef {
 public:
  HostRef(std::size_t part, HostKind kind, std::size_t row)
      : part_(static_cast<std::uint32_t>(part)),
        kind_and_row_(static_cast<std::uint32_t>(kind) << kRowBits |
                      static_cast<std::uint32_t>(row)) {}

  std::size_t part() const { return part_; }
  HostKind kind() const { return static_cast<HostKind>(kind_and_row_ >> kRowBits); }
  std::size_t row() const { return kind_and_row_ & ((std::uint32_t{1} << kRowBits) - 1); }
  // True if this span stands before the other in the files.
  bool stands_before(const HostRef& other) const {
    return part_ != other.part_ ? part_ < other.part_ : kind_and_row_ < other.kind_and_row_;
  }

 private:
  static constexpr unsigned kRowBits = 30;  // a part holds only one chunk of text

  std::uint32_t part_;
  std::uint32_t kind_and_row_;
};

// The kinds of spans to include.
struct HostKinds {
  bool frames = false;
  bool hosts = false;
  bool operators = true;
  bool calls = true;
};

// Orders the spans of one rank; the rank must outlive it.
class HostOrder {
 public:
  HostOrder(const RankEvents& rank, const HostKinds& kinds);

  // Sorted by row, then by start, longer spans first.
  const std::vector<HostRef>& refs() const { return refs_; }
  const HostSpan& span(const HostRef& ref) const;
  // These two take only refs of their kind.
  const OperatorSpan& operation(const HostRef& ref) const {
    return rank_.parts[ref.part()].operators[ref.row()];
  }
  const CallSpan& call(const HostRef& ref) const {
    return rank_.parts[ref.part()].calls[ref.row()];
  }

 private:
  using Refs = std::vector<HostRef>;

  void unpack_hosts();
  template <typename Span>
  void add(std::size_t part, HostKind kind, const std::vector<Span>& spans);
  // Moves the runs of a row to refs_.
  void merge_runs(std::array<Refs, kHostKinds>& runs);

  const RankEvents& rank_;
  std::vector<std::vector<HostSpan>> hosts_;  // unpacked hosts of each part
  // Spans of one kind and row mostly stand in order in a file, so that merging is faster than
  // sorting them all.
  std::map<std::uint32_t, std::array<Refs, kHostKinds>> runs_;  // by row
  Refs refs_;
};

}  // namespace traceloom
