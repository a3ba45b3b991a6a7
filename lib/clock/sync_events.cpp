#include "clock/sync_events.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

// The stamp of a moment by a file.
struct Stamp {
  std::size_t other;  // the moment's number for a file, the file's for a moment
  std::int64_t moment_ns;
  std::int64_t error_ns;
};

// Files and named moments with their stamps. The size is linear in the number of stamps, however
// many files share a moment.
struct Graph {
  std::vector<std::vector<Stamp>> of_file;
  std::vector<std::vector<Stamp>> of_moment;

  explicit Graph(const std::vector<SyncNode>& files) : of_file(files.size()) {
    std::map<std::string_view, std::size_t> numbers;
    for (std::size_t file = 0; file < files.size(); ++file) {
      for (const SyncEvent& event : files[file].events) {
        const std::size_t moment = numbers.try_emplace(event.id, numbers.size()).first->second;
        of_moment.resize(numbers.size());
        of_file[file].push_back({moment, event.moment_ns, event.error_ns});
        of_moment[moment].push_back({file, event.moment_ns, event.error_ns});
      }
    }
  }
};

// The next thing to visit: the smallest error first, then files before moments, by number.
struct Step {
  std::int64_t error_ns;
  bool is_moment;
  std::size_t number;
  std::int64_t common_ns;  // the offset of a file, the time of a moment

  friend bool operator<(const Step& a, const Step& b) {
    return std::tie(a.error_ns, a.is_moment, a.number, a.common_ns) <
           std::tie(b.error_ns, b.is_moment, b.number, b.common_ns);
  }
};

// Finds the shortest paths with Dijkstra's algorithm.
class Walk {
 public:
  explicit Walk(const std::vector<SyncNode>& files)
      : graph_(files), places_(files.size()), is_met_(graph_.of_moment.size()) {
    for (std::size_t file = 0; file < files.size(); ++file)
      if (files[file].offset_ns) steps_.insert({0, false, file, *files[file].offset_ns});
  }

  std::vector<std::optional<SyncPlace>> run() {
    while (!steps_.empty()) {
      const Step step = *steps_.begin();
      steps_.erase(steps_.begin());
      if (step.is_moment)
        leave_moment(step);
      else
        leave_file(step);
    }
    return std::move(places_);
  }

 private:
  void leave_file(const Step& step) {
    std::optional<SyncPlace>& place = places_[step.number];
    if (place) return;
    place = SyncPlace{step.common_ns, step.error_ns};
    for (const Stamp& stamp : graph_.of_file[step.number]) {
      Step next{0, true, stamp.other, 0};
      if (!is_met_[stamp.other] && fits(step, stamp, next) &&
          !__builtin_add_overflow(stamp.moment_ns, step.common_ns, &next.common_ns))
        steps_.insert(next);
    }
  }
  void leave_moment(const Step& step) {
    if (std::exchange(is_met_[step.number], char{1})) return;
    for (const Stamp& stamp : graph_.of_moment[step.number]) {
      Step next{0, false, stamp.other, 0};
      if (!places_[stamp.other] && fits(step, stamp, next) &&
          !__builtin_sub_overflow(step.common_ns, stamp.moment_ns, &next.common_ns))
        steps_.insert(next);
    }
  }
  static bool fits(const Step& step, const Stamp& stamp, Step& next) {
    return !__builtin_add_overflow(step.error_ns, stamp.error_ns, &next.error_ns);
  }

  Graph graph_;
  std::vector<std::optional<SyncPlace>> places_;
  std::vector<char> is_met_;
  std::set<Step> steps_;
};

}  // namespace

std::vector<std::optional<SyncPlace>> place_by_sync_events(const std::vector<SyncNode>& files) {
  return Walk(files).run();
}

std::vector<std::vector<std::size_t>> connected_by_sync_events(const std::vector<SyncNode>& files) {
  const Graph graph(files);
  std::vector<std::vector<std::size_t>> groups;
  std::vector<char> is_met(files.size());
  std::vector<char> is_moment_met(graph.of_moment.size());
  for (std::size_t first = 0; first < files.size(); ++first) {
    if (std::exchange(is_met[first], char{1})) continue;
    std::vector<std::size_t> group{first};
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (const Stamp& stamp : graph.of_file[group[i]]) {
        if (std::exchange(is_moment_met[stamp.other], char{1})) continue;
        for (const Stamp& of_moment : graph.of_moment[stamp.other])
          if (!std::exchange(is_met[of_moment.other], char{1})) group.push_back(of_moment.other);
      }
    }
    std::sort(group.begin(), group.end());
    if (group.size() > 1) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace traceloom
