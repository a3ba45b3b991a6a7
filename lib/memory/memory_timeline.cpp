#include "base/arithmetic.h"
#include "base/ascii.h"
#include "base/problems.h"
#include "memory/memory_reports.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace traceloom {
namespace {

constexpr std::int64_t kDestroy = 4;
constexpr std::size_t kRawNumbers = 4;
constexpr std::int64_t kNsPerUs = 1000;

// Walks the lists. A raw timeline is a list of rows [ns, action, bytes, category]; the JSON one has
// two lists, the times in us, and for each of them a row of 1 + 8 sums.
class TimelineReader {
 public:
  TimelineReader(const std::string& path, std::string_view text) : text_(text) {
    timeline_.path = path;
  }

  MemoryTimeline read() {
    while (at_ < text_.size()) read_token();
    if (depth_ != 0 || timeline_.rows == 0)
      refuse(depth_ != 0 ? "the memory timeline ends inside a list: it is cut; copy it again"
                         : "is no memory timeline: a list of rows of numbers");
    timeline_.end = live_.sum();
    timeline_.at_end = live_.bytes;
    for (const Part& part : parts_) {
      timeline_.curve.push_back(part.most);
      if (part.last != part.most) timeline_.curve.push_back(part.last);
    }
    std::ranges::stable_sort(timeline_.curve, {}, &TimelinePoint::at_ns);
    return std::move(timeline_);
  }

 private:
  static constexpr int kDeepest = 3;
  void leave_out() { ++timeline_.left_out; }
  [[noreturn]] void refuse(const char* problem) const { throw Error(timeline_.path, at_, problem); }

  void read_token() {
    const char c = text_[at_];
    if (is_space(c) || c == ',') {
      ++at_;
    } else if (c == '[') {
      if (depth_ == 0 && timeline_.rows > 0)
        refuse("another memory timeline begins here: split the file");
      ++at_;
      if (++depth_ > kDeepest) refuse("is no memory timeline: lists are nested too deep");
      if (depth_ == kDeepest && timeline_.rows == 0 && times_.empty()) times_.swap(first_);
      if (depth_ > 1) numbers_.clear();
    } else if (c == ']') {
      ++at_;
      end_list();
    } else {
      read_number();
    }
  }

  void read_number() {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    double number = 0;
    std::int64_t whole = 0;
    auto result = std::from_chars(begin, end, whole);
    if (result.ec != std::errc() ||
        (result.ptr != end && (*result.ptr == '.' || *result.ptr == 'e'))) {
      result = std::from_chars(begin, end, number);
      if (result.ec != std::errc() || !(std::abs(number) < 9e18))
        refuse("is no memory timeline: a number is expected here");
      whole = std::llround(number);
    }
    at_ += static_cast<std::size_t>(result.ptr - begin);
    numbers_.push_back(whole);
  }

  void end_list() {
    if (--depth_ < 0) refuse("is no memory timeline: a list ends that did not begin");
    if (depth_ == 0 && timeline_.rows == 0 && !first_.empty()) add_raw(first_);
    if (depth_ == 2)
      add_sums();
    else if (depth_ == 1 && times_.empty())
      end_row();
    if (depth_ > 0) numbers_.clear();
  }

  // The first list may be a row, or the times: what follows it says which.
  void end_row() {
    if (!has_first_) {
      has_first_ = true;
      first_ = std::move(numbers_);
      return;
    }
    if (!first_.empty()) add_raw(std::exchange(first_, {}));
    add_raw(numbers_);
  }

  void add_raw(const std::vector<std::int64_t>& row) {
    ++timeline_.rows;
    const bool fits = row.size() == kRawNumbers && row[3] >= 0 &&
                      row[3] < static_cast<std::int64_t>(kTimelineCategoryCount) && row[1] >= 0 &&
                      row[1] <= kDestroy;
    if (!fits) return leave_out();
    add_to(live_.bytes[static_cast<std::size_t>(row[3])], row[2]);
    note(row[0] < 0 ? std::nullopt : std::optional(row[0]));
  }

  void add_sums() {
    const std::size_t index = timeline_.rows++;
    if (numbers_.size() != kTimelineCategoryCount + 1 || index >= times_.size()) return leave_out();
    std::copy(numbers_.begin() + 1, numbers_.end(), live_.bytes.begin());
    note(saturating_multiply(times_[index], kNsPerUs));
  }

  void note(std::optional<std::int64_t> at_ns) {
    const std::int64_t all = live_.sum();
    if (at_ns) note_point(*at_ns);
    if (all <= timeline_.peak) return;
    timeline_.peak = all;
    timeline_.peak_at_ns = at_ns;
    timeline_.at_peak = live_.bytes;
  }

  // Rows may be millions, and their number is not known before the end.
  void note_point(std::int64_t at_ns) {
    const TimelinePoint now{at_ns, live_.bytes};
    if (in_part_ == rows_a_part_ && parts_.size() == kMostTimelinePoints / 2) join_parts();
    if (in_part_ == rows_a_part_) {
      parts_.push_back({now, now});
      in_part_ = 0;
    }
    ++in_part_;
    parts_.back().add({now, now});
  }
  void join_parts() {
    for (std::size_t i = 0; i < parts_.size() / 2; ++i) {
      parts_[i] = parts_[2 * i];
      parts_[i].add(parts_[2 * i + 1]);
    }
    parts_.resize(parts_.size() / 2);
    rows_a_part_ *= 2;
    in_part_ = rows_a_part_;
  }

  struct Part {
    TimelinePoint most;
    TimelinePoint last;

    void add(const Part& later) {
      for (std::size_t i = 0; i < kTimelineCategoryCount; ++i)
        most.bytes[i] = std::max(most.bytes[i], later.most.bytes[i]);
      last = later.last;
    }
  };

  std::string_view text_;
  MemoryTimeline timeline_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool has_first_ = false;
  std::vector<std::int64_t> first_;
  std::vector<std::int64_t> times_;
  std::vector<std::int64_t> numbers_;
  TimelinePoint live_;
  std::vector<Part> parts_;
  std::size_t rows_a_part_ = 1;
  std::size_t in_part_ = 1;  // rows of the last part
};

}  // namespace

std::int64_t TimelinePoint::sum() const {
  std::int64_t all = 0;
  for (const std::int64_t category : bytes) add_to(all, category);
  return all;
}

MemoryTimeline parse_memory_timeline(const std::string& path, std::string_view text) {
  return TimelineReader(path, text).read();
}

}  // namespace traceloom
