// The durations of groups of spans, in few bytes each, and their exact statistics.
#pragma once

#include "base/string_table.h"
#include "event/event.h"
#include "select/selection.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// DurationColumn: the durations of one group of spans, four bytes each.
//
//   ColumnArena arena;
//   DurationColumn column;
//   column.add(1234, arena);
//   column.copy_to(values);
//
// It replaces a std::vector<std::int64_t> a group, because nearly all spans are shorter than the
// 4.3 s that 32 bits hold, most groups are small, and a growing vector holds its old and its new
// memory at the same time. A column is a chain of extents that double in size up to 16 KiB and
// never move.

// Owns the memory of many columns' extents and frees all of it at once. Not thread-safe.
class ColumnArena {
 public:
  // Returns room for `words` 32-bit words, aligned for a pointer.
  std::uint32_t* allocate(std::size_t words);

 private:
  std::vector<std::unique_ptr<std::uint64_t[]>> blocks_;
  std::size_t left_ = 0;  // words left in the last block
  std::uint32_t* next_ = nullptr;
};

// All durations of a group; their order has no meaning.
struct DurationValues {
  std::vector<std::uint32_t> small;
  std::vector<std::int64_t> large;  // durations of 2^32 ns and more

  std::size_t size() const { return small.size() + large.size(); }
  void clear();
};

class DurationColumn {
 public:
  // `ns` is not negative.
  void add(std::int64_t ns, ColumnArena& arena) {
    if (ns >> 32 != 0) return add_large(ns);
    if (used_ == capacity_) grow(arena);
    values_[used_++] = static_cast<std::uint32_t>(ns);
  }

  bool empty() const { return used_ == 0 && !large_; }
  // Appends the durations to `values`.
  void copy_to(DurationValues& values) const;

 private:
  // Stands in the two words before the values of an extent (one word where pointers are small).
  struct Link {
    std::uint32_t* values;
    std::uint32_t capacity;
  };
  static constexpr std::uint32_t kFirst = 4;
  static constexpr std::uint32_t kLargest = 4096;
  static constexpr std::size_t kLinkWords = sizeof(Link) / sizeof(std::uint32_t);

  void add_large(std::int64_t ns);
  void grow(ColumnArena& arena);

  std::uint32_t* values_ =
      nullptr;  // values of the last extent; the Link to the previous extent stands before them
  std::uint32_t used_ = 0;
  std::uint32_t capacity_ = 0;
  std::unique_ptr<std::vector<std::int64_t>> large_;
};

// DurationStats: the exact statistics of a group of spans.
//
//   DurationValues values{{3, 1, 2}, {}};
//   std::optional<DurationStats> stats = compute_stats(values);   // stats->p50_ns == 2

struct DurationStats {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t mean_ns = 0;  // halves are rounded up
  std::int64_t min_ns = 0;
  std::int64_t p50_ns = 0;  // nearest rank: always one of the durations, never a value between two
  std::int64_t p90_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
  std::int64_t stddev_ns = 0;  // deviation of the sample (n - 1); 0 for a single span

  friend bool operator==(const DurationStats&, const DurationStats&) = default;
};

// `values` holds at least one duration. Its order is changed and has no influence: sums are
// integers, so every order gives the same result. Returns nullopt if the total does not fit int64
// nanoseconds (292 years).
std::optional<DurationStats> compute_stats(DurationValues& values);

// SpanTable: the durations of spans by name, category and, if requested, file and thread.
//
//   SpanTable table(filter, SpanPlaces::none);
//   table.add(event, file, timing.duration_ns);     // X events of a chunk
//   table.commit();                                  // the chunk counts
//   table.for_each_group([](const SpanGroup& group) { use(group.name, group.durations); });
//
// Many tables are filled in parallel, each from many chunks and files, and read together at the
// end, so no data move after each chunk. Spans added since the last commit() can be discarded,
// because scan_files() scans a chunk again if its guess where the chunk began was wrong.

// The properties that separate groups, in addition to name and category.
enum class SpanPlaces : std::uint8_t {
  none,               // no further property
  files,              // the file
  files_and_pids,     // the file and the pid: in a merged file each rank is a pid
  files_and_threads,  // also the tid, for ranks that share a pid; many threads give many groups
};

struct SpanGroup {
  std::string_view name;
  std::string_view category;  // category as written: a comma list
  std::size_t file;           // 0 with SpanPlaces::none if the number is below `files`
  std::string_view pid;       // canonical_id() of the pid; empty without pids
  std::string_view tid;       // canonical_id() of the tid; empty without threads
  const DurationColumn& durations;
};

// Collects spans; not thread-safe. The views that it returns are valid as long as the table.
class SpanTable {
 public:
  // `filter` must outlive the table. File numbers >= `files` are kept apart whatever `places` is.
  SpanTable(const LabelFilter& filter, SpanPlaces places,
            std::size_t files = std::numeric_limits<std::size_t>::max())
      : filter_(filter), places_(places), files_(files) {}

  // Adds a span with `event`'s name, category and thread. Escapes are decoded, and the filter is
  // applied, only when a text appears for the first time.
  void add(const Event& event, std::size_t file, std::int64_t duration_ns);

  // The same in two steps, for spans that are no single event. Numbers of labels and places are
  // valid for this table only.
  std::uint32_t label(std::string_view name, std::string_view category);
  // `pid` and `tid` are the results of canonical_id().
  std::uint32_t place(std::size_t file, std::string_view pid, std::string_view tid);
  void add(std::uint32_t label_number, std::uint32_t place_number, std::int64_t duration_ns);

  // Keep or discard the spans added since the last call. Both cost little if there are none.
  void commit();
  void discard();
  // Returns the number of spans, added since then, that the filter accepts.
  std::uint64_t pending() const { return pending_.size(); }

  // One in kNameSample of the different names that the filter accepts belongs to the sample, from
  // which their number is estimated.
  static constexpr std::size_t kNameSample = 64;
  // Calls use(name) for the names of the sample that are new since the last call.
  template <typename Use>
  void take_name_sample(Use use) {
    for (const std::uint32_t text : name_sample_) use(texts_[text]);
    name_sample_.clear();
  }

  // Calls use(SpanGroup) for each group that has committed spans.
  template <typename Use>
  void for_each_group(Use use) const {
    for (const Group& group : groups_) {
      if (group.durations.empty()) continue;
      const Label& label = labels_[group.label];
      const Place& place = places_made_[group.place];
      use(SpanGroup{texts_[label.name], texts_[label.category], place.file, texts_[place.pid],
                    texts_[place.tid], group.durations});
    }
  }

 private:
  bool has_pids() const { return places_ >= SpanPlaces::files_and_pids; }
  bool has_threads() const { return places_ == SpanPlaces::files_and_threads; }
  static constexpr std::uint32_t kNothing = ~std::uint32_t{0};

  struct Label {
    std::uint32_t name;
    std::uint32_t category;
    bool wanted;
    std::uint32_t last_place = kNothing;  // place whose group is last_group
    std::uint32_t last_group = 0;
  };
  struct Place {
    std::size_t file;
    std::uint32_t pid;
    std::uint32_t tid;
  };
  struct Group {
    std::uint32_t label;
    std::uint32_t place;
    DurationColumn durations;
  };
  struct Pending {
    std::uint32_t group;
    std::int64_t duration_ns;
  };

  std::uint32_t label(const Event& event);
  std::uint32_t place(const Event& event, std::size_t file);
  std::uint32_t group(std::uint32_t label_number, std::uint32_t place_number);

  const LabelFilter& filter_;
  SpanPlaces places_;
  std::size_t files_;
  ColumnArena arena_;
  std::string scratch_;

  StringTable texts_;       // decoded names and categories, canonical pids and tids
  StringTable raw_labels_;  // JSON text of name and category
  std::vector<std::uint32_t> label_of_raw_;
  StringTable label_names_;  // (name, category) in texts_
  std::vector<Label> labels_;
  std::vector<std::uint32_t> name_sample_;  // numbers of texts_; may repeat
  StringTable raw_places_;                  // file and JSON text of pid and tid
  std::vector<std::uint32_t> place_of_raw_;
  StringTable place_names_;  // file and canonical pid and tid
  std::vector<Place> places_made_;
  std::size_t last_file_ = 0;
  std::string last_pid_;  // JSON text
  std::string last_tid_;
  std::uint32_t last_place_ = kNothing;

  StringTable group_names_;  // (label, place)
  std::vector<Group> groups_;
  std::vector<Pending> pending_;
};

}  // namespace traceloom
