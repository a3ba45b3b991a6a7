// HostOrder: the spans of a rank's host threads, row by row, an outer one before those in it.
//
//   HostOrder order(rank, {.frames = true});
//   for (const HostRef& ref : order.refs()) use(order.span(ref).start_ns, ref.kind());
//
// Eight bytes a span: the spans themselves stay in the columns, unless they are packed there.
#pragma once

#include "run/run.h"

#include <cstdint>
#include <vector>

namespace traceloom {

// Of two that begin and end together the one of the lesser kind is around the other.
enum class HostKind : std::uint8_t { frame, host, operation, call };

// Where a span stands in the columns of its rank.
class HostRef {
 public:
  HostRef(std::size_t part, HostKind kind, std::size_t row)
      : part_(static_cast<std::uint32_t>(part)),
        kind_and_row_(static_cast<std::uint32_t>(kind) << kRowBits |
                      static_cast<std::uint32_t>(row)) {}

  std::size_t part() const { return part_; }
  HostKind kind() const { return static_cast<HostKind>(kind_and_row_ >> kRowBits); }
  std::size_t row() const { return kind_and_row_ & ((std::uint32_t{1} << kRowBits) - 1); }
  // Ascending as they stand in the files.
  bool stands_before(const HostRef& other) const {
    return part_ != other.part_ ? part_ < other.part_ : kind_and_row_ < other.kind_and_row_;
  }

 private:
  static constexpr unsigned kRowBits = 30;  // a part is of one chunk of text

  std::uint32_t part_;
  std::uint32_t kind_and_row_;
};

// Which spans.
struct HostKinds {
  bool frames = false;
  bool hosts = false;
  bool operators = true;
  bool calls = true;
};

// Of one rank, which must outlive it.
class HostOrder {
 public:
  HostOrder(const RankEvents& rank, const HostKinds& kinds);

  // By row, then by start, longer ones first.
  const std::vector<HostRef>& refs() const { return refs_; }
  const HostSpan& span(const HostRef& ref) const;
  // Of a ref of that kind only.
  const OperatorSpan& operation(const HostRef& ref) const {
    return rank_.parts[ref.part()].operators[ref.row()];
  }
  const CallSpan& call(const HostRef& ref) const {
    return rank_.parts[ref.part()].calls[ref.row()];
  }

 private:
  void unpack_hosts();

  const RankEvents& rank_;
  std::vector<std::vector<HostSpan>> hosts_;  // of each part
  std::vector<HostRef> refs_;
};

}  // namespace traceloom
