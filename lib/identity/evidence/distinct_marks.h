// DistinctMarks: the values of metadata events with one name. Each distinct (value, pid, tid) is
// stored once, in the order met.
//
//   DistinctMarks syncs;
//   syncs.add({1795202969005000, "3", 812});
//   syncs.front().value
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

struct Mark {
  std::int64_t value = 0;
  std::string pid;           // canonical_id() of the event's pid
  std::uint64_t offset = 0;  // offset of the event in the uncompressed text
  std::string tid = {};      // canonical_id() of the event's tid, if it is needed

  template <typename Wire>
  void wire(Wire& wire) {
    wire(value, pid, offset, tid);
  }
};

class DistinctMarks {
 public:
  // The ranks times cycles of a merged file are far fewer. A file with more marks is broken and
  // would fill the memory. Later marks are left out.
  static constexpr std::size_t kMaxMarks = 100'000;

  void add(const Mark& mark) {
    if (marks_.size() >= kMaxMarks || !known_.emplace(mark.value, mark.pid, mark.tid).second)
      return;
    marks_.push_back(mark);
    pids_.insert(mark.pid);
  }
  void add(const DistinctMarks& later) {
    for (const Mark& mark : later) add(mark);
  }

  bool empty() const { return marks_.empty(); }
  std::size_t size() const { return marks_.size(); }
  // True if a mark has that canonical pid.
  bool names(std::string_view pid) const { return pids_.contains(pid); }
  const Mark& front() const { return marks_.front(); }
  std::vector<Mark>::const_iterator begin() const { return marks_.begin(); }
  std::vector<Mark>::const_iterator end() const { return marks_.end(); }

  template <typename Wire>
  void wire(Wire& wire) {
    wire(marks_, known_, pids_);
  }

 private:
  std::vector<Mark> marks_;
  std::set<std::tuple<std::int64_t, std::string, std::string>> known_;
  std::set<std::string, std::less<>> pids_;
};

}  // namespace traceloom
