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
#pragma once

#include "base/string_table.h"
#include "event/event.h"
#include "select/label_filter.h"
#include "summarize/duration_column.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

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
