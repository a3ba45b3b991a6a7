#include "summarize/span_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>

namespace traceloom {
namespace {

constexpr std::size_t kBlockWords = std::size_t{64} << 10;

}  // namespace

std::uint32_t* ColumnArena::allocate(std::size_t words) {
  words = (words + 1) & ~std::size_t{1};
  if (left_ < words) {
    left_ = std::max(kBlockWords, words);
    blocks_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(left_ / 2));
    next_ = reinterpret_cast<std::uint32_t*>(blocks_.back().get());
  }
  std::uint32_t* const place = next_;
  next_ += words;
  left_ -= words;
  return place;
}

void DurationValues::clear() {
  small.clear();
  large.clear();
}

void DurationColumn::add_large(std::int64_t ns) {
  if (!large_) large_ = std::make_unique<std::vector<std::int64_t>>();
  large_->push_back(ns);
}

void DurationColumn::grow(ColumnArena& arena) {
  const Link before{values_, capacity_};
  capacity_ = std::clamp(capacity_ * 2, kFirst, kLargest);
  values_ = arena.allocate(kLinkWords + capacity_) + kLinkWords;
  std::memcpy(values_ - kLinkWords, &before, sizeof before);
  used_ = 0;
}

void DurationColumn::copy_to(DurationValues& values) const {
  Link extent{values_, used_};
  while (extent.values != nullptr) {
    values.small.insert(values.small.end(), extent.values, extent.values + extent.capacity);
    std::memcpy(&extent, extent.values - kLinkWords, sizeof extent);
  }
  if (large_) values.large.insert(values.large.end(), large_->begin(), large_->end());
}

namespace {

__extension__ typedef unsigned __int128 Uint128;

template <typename Use>
void for_each(const DurationValues& values, Use use) {
  for (const std::uint32_t ns : values.small) use(static_cast<std::uint64_t>(ns));
  for (const std::int64_t ns : values.large) use(static_cast<std::uint64_t>(ns));
}

// Measures distances from the mean's whole nanoseconds, so that the sum is exact (its squares fit,
// because the total does). The error of that mean, total - count * floor, is subtracted afterwards.
std::int64_t standard_deviation(const DurationValues& values, std::uint64_t total) {
  const std::uint64_t count = values.size();
  if (count < 2) return 0;
  const std::uint64_t floor = total / count;
  Uint128 squares = 0;
  for_each(values, [&](std::uint64_t ns) {
    const std::uint64_t distance = ns > floor ? ns - floor : floor - ns;
    squares += Uint128{distance} * distance;
  });
  const long double rest = static_cast<long double>(total % count);
  const long double sum =
      static_cast<long double>(squares) - rest * rest / static_cast<long double>(count);
  return std::llround(std::sqrt(std::max(sum, 0.0L) / static_cast<long double>(count - 1)));
}

// Finds the durations of given ranks. The ranks must ascend: each search leaves out the values that
// the previous one has put below its place.
class RankSearch {
 public:
  explicit RankSearch(DurationValues& values) : values_(values) {}

  std::int64_t operator()(std::size_t rank) {
    if (rank < values_.small.size()) return select(values_.small, small_done_, rank);
    return select(values_.large, large_done_, rank - values_.small.size());
  }

 private:
  template <typename T>
  static std::int64_t select(std::vector<T>& values, std::size_t& done, std::size_t rank) {
    if (rank + 1 > done) {
      std::nth_element(values.begin() + static_cast<std::ptrdiff_t>(done),
                       values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
      done = rank + 1;
    }
    return static_cast<std::int64_t>(values[rank]);
  }

  DurationValues& values_;
  std::size_t small_done_ = 0;
  std::size_t large_done_ = 0;
};

// Returns the place of the nearest-rank percentile: ceil(percent / 100 * count) - 1.
std::size_t percentile_rank(std::size_t count, std::size_t percent) {
  return (count / 100) * percent + ((count % 100) * percent + 99) / 100 - 1;
}

}  // namespace

std::optional<DurationStats> compute_stats(DurationValues& values) {
  Uint128 total = 0;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
  for_each(values, [&](std::uint64_t ns) {
    total += ns;
    least = std::min(least, ns);
    most = std::max(most, ns);
  });
  if (total > static_cast<Uint128>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  const std::size_t count = values.size();
  DurationStats stats;
  stats.count = count;
  stats.total_ns = static_cast<std::int64_t>(total);
  stats.mean_ns = static_cast<std::int64_t>((total * 2 + count) / (Uint128{count} * 2));
  stats.min_ns = static_cast<std::int64_t>(least);
  stats.max_ns = static_cast<std::int64_t>(most);
  RankSearch at_rank(values);
  stats.p50_ns = at_rank(percentile_rank(count, 50));
  stats.p90_ns = at_rank(percentile_rank(count, 90));
  stats.p99_ns = at_rank(percentile_rank(count, 99));
  stats.stddev_ns = standard_deviation(values, static_cast<std::uint64_t>(total));
  return stats;
}

namespace {

// Returns a view of `scratch`. The NUL separates pid and tid because JSON text has none.
std::string_view place_key(std::size_t file, std::string_view pid, std::string_view tid,
                           std::string& scratch) {
  scratch = std::to_string(file) + ' ';
  scratch.append(pid).push_back('\0');
  scratch.append(tid);
  return scratch;
}

bool is_in_sample(std::string_view name) {
  return std::hash<std::string_view>()(name) % SpanTable::kNameSample == 0;
}

}  // namespace

std::uint32_t SpanTable::label(const Event& event) {
  const std::uint32_t raw = raw_labels_.intern(label_text(event, scratch_));
  if (raw == label_of_raw_.size()) {
    const std::string_view name = string_or_nothing(event.text(Key::name));
    label_of_raw_.push_back(label(name.empty() ? std::string(kNoName) : decoded(name),
                                  decoded(string_or_nothing(event.text(Key::cat)))));
  }
  return label_of_raw_[raw];
}

std::uint32_t SpanTable::label(std::string_view name, std::string_view category) {
  const std::uint32_t name_number = texts_.intern(name);
  const std::uint32_t category_number = texts_.intern(category);
  const std::uint32_t number =
      label_names_.intern(NumberPair(name_number, category_number).bytes());
  if (number == labels_.size()) {
    labels_.push_back({name_number, category_number, filter_.accepts(name, category)});
    if (labels_.back().wanted && is_in_sample(name)) name_sample_.push_back(name_number);
  }
  return number;
}

// Compares with the last event first: events of one thread mostly follow each other.
std::uint32_t SpanTable::place(const Event& event, std::size_t file) {
  const std::string_view pid = has_pids() ? event.text(Key::pid) : std::string_view{};
  const std::string_view tid = has_threads() ? event.text(Key::tid) : std::string_view{};
  if (last_place_ != kNothing && file == last_file_ && tid == last_tid_ && pid == last_pid_)
    return last_place_;
  const std::uint32_t raw = raw_places_.intern(place_key(file, pid, tid, scratch_));
  if (raw == place_of_raw_.size())
    place_of_raw_.push_back(place(file, canonical_id(pid), canonical_id(tid)));
  last_file_ = file;
  last_pid_ = pid;
  last_tid_ = tid;
  last_place_ = place_of_raw_[raw];
  return last_place_;
}

std::uint32_t SpanTable::place(std::size_t file, std::string_view pid, std::string_view tid) {
  if (places_ == SpanPlaces::none && file < files_) file = 0;
  if (!has_pids()) pid = {};
  if (!has_threads()) tid = {};
  const std::uint32_t number = place_names_.intern(place_key(file, pid, tid, scratch_));
  if (number == places_made_.size())
    places_made_.push_back({file, texts_.intern(pid), texts_.intern(tid)});
  return number;
}

std::uint32_t SpanTable::group(std::uint32_t label_number, std::uint32_t place_number) {
  Label& label = labels_[label_number];
  if (label.last_place != place_number) {
    label.last_place = place_number;
    label.last_group = group_names_.intern(NumberPair(label_number, place_number).bytes());
    if (label.last_group == groups_.size()) groups_.push_back({label_number, place_number, {}});
  }
  return label.last_group;
}

void SpanTable::add(const Event& event, std::size_t file, std::int64_t duration_ns) {
  const std::uint32_t label_number = label(event);
  if (labels_[label_number].wanted)
    pending_.push_back({group(label_number, place(event, file)), duration_ns});
}

void SpanTable::add(std::uint32_t label_number, std::uint32_t place_number,
                    std::int64_t duration_ns) {
  if (labels_[label_number].wanted)
    pending_.push_back({group(label_number, place_number), duration_ns});
}

void SpanTable::commit() {
  for (const Pending& span : pending_) groups_[span.group].durations.add(span.duration_ns, arena_);
  pending_.clear();
}

void SpanTable::discard() {
  pending_.clear();
}

}  // namespace traceloom
