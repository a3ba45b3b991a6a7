// TimedRange, timed(), timed_next(): record the time that a data loader takes for each batch.
//
//   for (auto& batch : timed(loader, marker)) ...
//   while (auto batch = timed_next(marker, [&] { return loader.next(); })) ...
#pragma once

#include "record/marker.h"

#include <cstddef>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

namespace traceloom::record {

// The range of a data loader. It records the time that the loader takes to return each batch, that
// is, to step to it and to get it. The time of the code that uses the batch is not recorded, and
// neither is the step that finds the end. `loader` and `marker` must outlive the range.
template <typename Range>
class TimedRange {
 public:
  TimedRange(Range& range, const Marker& marker) : range_(range), marker_(marker) {}

  class Sentinel {};
  class Iterator {
   public:
    using Inner = decltype(std::begin(std::declval<Range&>()));
    using End = decltype(std::end(std::declval<Range&>()));
    using reference = decltype(*std::declval<Inner&>());
    using value_type = std::remove_cv_t<std::remove_reference_t<reference>>;
    using difference_type = std::ptrdiff_t;
    using pointer = value_type*;
    using iterator_category = std::input_iterator_tag;

    Iterator(Range& range, const Marker& marker) : marker_(&marker), scope_(marker) {
      inner_.emplace(std::begin(range));
      end_.emplace(std::end(range));
      fetch();
    }
    std::remove_reference_t<reference>& operator*() {
      if constexpr (std::is_reference_v<reference>)
        return **held_;
      else
        return *held_;
    }
    Iterator& operator++() {
      scope_.emplace(*marker_);
      ++*inner_;
      fetch();
      return *this;
    }
    bool operator!=(Sentinel) const { return *inner_ != *end_; }
    bool operator==(Sentinel) const { return !(*inner_ != *end_); }

   private:
    void fetch() {
      held_.reset();
      if (!(*inner_ != *end_)) {
        scope_->abandon();
      } else if constexpr (std::is_reference_v<reference>) {
        auto&& element = **inner_;
        held_.emplace(&element);
      } else {
        held_.emplace(**inner_);
      }
      scope_.reset();
    }
    // The element that a reference leads to, or a value that the loader makes anew.
    using Held = std::conditional_t<std::is_reference_v<reference>,
                                    std::remove_reference_t<reference>*, value_type>;

    const Marker* marker_;
    std::optional<Scope>
        scope_;  // open while the batch is fetched; first, so that begin() is in it
    std::optional<Inner> inner_;
    std::optional<End> end_;
    std::optional<Held> held_;
  };

  Iterator begin() { return Iterator(range_, marker_); }
  Sentinel end() { return {}; }

 private:
  Range& range_;
  const Marker& marker_;
};

template <typename Range>
TimedRange<Range> timed(Range& range, const Marker& marker) {
  return TimedRange<Range>(range, marker);
}

// Does the same for a loader that is asked by a function, until what that returns is false (a null
// pointer, an empty optional).
template <typename Next>
auto timed_next(const Marker& marker, Next&& next) {
  Scope scope(marker);
  auto batch = std::forward<Next>(next)();
  if (!batch) scope.abandon();
  return batch;
}

}  // namespace traceloom::record
