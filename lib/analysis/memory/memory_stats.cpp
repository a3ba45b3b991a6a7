#include "analysis/memory/memory_stats.h"

#include "analysis/numbers.h"
#include "base/ascii.h"
#include "base/problems.h"
#include "input/byte_source.h"
#include "input/input_list.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>
#include <yaml-cpp/yaml.h>

namespace traceloom {
namespace {

namespace fs = std::filesystem;

// The key for the time of a snapshot of our recorder.
constexpr std::string_view kTimeKey = "time_ns";

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

constexpr char kWanted[] =
    "is no memory stats: a mapping of rank.function.iteration.start|end to what was measured";

// Reads "0.training_step.2.end"; a function may have points in its name.
bool read_key(std::string_view key, MemorySnapshot& snapshot) {
  const std::size_t first = key.find('.');
  const std::size_t last = key.rfind('.');
  if (first == std::string_view::npos || last == first) return false;
  const std::size_t middle = key.rfind('.', last - 1);
  if (middle == first) return false;
  const std::string_view end = key.substr(last + 1);
  snapshot.at_end = end == "end";
  snapshot.function = key.substr(first + 1, middle - first - 1);
  const auto rank = whole_number<std::int64_t>(key.substr(0, first));
  const auto iteration = whole_number<std::int64_t>(key.substr(middle + 1, last - middle - 1));
  snapshot.rank = rank.value_or(-1);
  snapshot.iteration = iteration.value_or(0);
  return (end == "end" || end == "start") && snapshot.rank >= 0 && iteration;
}

void read_values(const YAML::Node& node, MemorySnapshot& snapshot, std::uint64_t& left_out) {
  for (const auto& entry : node) {
    if (entry.second.IsNull()) continue;  // a hook without measurements
    if (entry.first.IsScalar() && entry.first.Scalar() == kTimeKey) continue;
    const bool are_scalars = entry.first.IsScalar() && entry.second.IsScalar();
    const auto number = whole_number<double>(are_scalars ? entry.second.Scalar() : "");
    if (number && std::isfinite(*number))
      snapshot.values[entry.first.Scalar()] = *number;
    else
      ++left_out;
  }
}

bool is_yaml_name(const std::string& path) {
  return path.ends_with(".yaml") || path.ends_with(".yml");
}

std::vector<std::string> stats_below(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (is_memory_stats_name(entry->path().string())) found.push_back(entry->path().string());
  return found;
}

// Returns the traces in a folder; empty if there are none.
std::vector<std::string> traces_of(const std::string& folder) {
  std::vector<std::string> paths;
  try {
    for (const Input& input : expand_inputs({folder}))
      if (!is_memory_stats_name(input.path)) paths.push_back(input.path);
  } catch (const Error&) {
    return {};
  }
  return paths;
}

// The measurements of one value by one rank, by iteration.
struct Course {
  std::map<std::int64_t, double> starts;
  std::map<std::int64_t, double> ends;
};
// Keyed by function and value, then rank.
using Courses = std::map<std::pair<std::string, std::string>, std::map<std::int64_t, Course>>;

// Over iterations, or over the ranks that have the value.
std::optional<double> mean_of(const std::map<std::int64_t, double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& [key, value] : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<double> mean_difference(const Course& course) {
  std::map<std::int64_t, double> differences;
  for (const auto& [iteration, end] : course.ends)
    if (const auto start = course.starts.find(iteration); start != course.starts.end())
      differences[iteration] = end - start->second;
  return mean_of(differences);
}

std::optional<double> growth_of(const Course& course) {
  std::vector<std::pair<double, double>> points;
  for (const auto& [iteration, end] : course.ends) points.emplace_back(iteration, end);
  return slope_of(points);
}

MemoryStatsRow row_of(const std::map<std::int64_t, Course>& ranks) {
  MemoryStatsRow row;
  const auto mean_over_ranks = [&](auto value_of) {
    std::map<std::int64_t, double> values;
    for (const auto& [rank, course] : ranks)
      if (const std::optional<double> value = value_of(course)) values[rank] = *value;
    return mean_of(values);
  };
  row.start = mean_over_ranks([](const Course& course) { return mean_of(course.starts); });
  row.end = mean_over_ranks([](const Course& course) { return mean_of(course.ends); });
  row.difference = mean_over_ranks(mean_difference);
  row.growth = mean_over_ranks([](const Course& course) { return growth_of(course); });
  for (const auto& [rank, course] : ranks) {
    const std::optional<double> at_start = mean_of(course.starts);
    const std::optional<double> at_end = mean_of(course.ends);
    const double last = at_end ? *at_end : *at_start;
    if (row.ranks == 0 || last > row.most) {
      row.most = last;
      row.most_rank = rank;
    }
    row.least = row.ranks == 0 ? last : std::min(row.least, last);
    ++row.ranks;
    row.iterations = std::max({row.iterations, static_cast<std::int64_t>(course.starts.size()),
                               static_cast<std::int64_t>(course.ends.size())});
  }
  return row;
}

bool is_zero(const std::map<std::int64_t, Course>& ranks) {
  const auto all_zero = [](const std::map<std::int64_t, double>& values) {
    return std::ranges::all_of(values, [](const auto& value) { return value.second == 0; });
  };
  return std::all_of(ranks.begin(), ranks.end(), [&](const auto& rank) {
    return all_zero(rank.second.starts) && all_zero(rank.second.ends);
  });
}

bool is_pool(std::string_view value) {
  return value.find(".small_pool.") != std::string_view::npos ||
         value.find(".large_pool.") != std::string_view::npos;
}

Courses gather(const std::vector<MemoryStatsFile>& files) {
  Courses courses;
  for (const MemoryStatsFile& file : files)
    for (const MemorySnapshot& one : file.snapshots)
      for (const auto& [name, value] : one.values) {
        Course& course = courses[{one.function, name}][one.rank];
        (one.at_end ? course.ends : course.starts).emplace(one.iteration, value);
      }
  return courses;
}

}  // namespace

bool is_memory_stats_name(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name.starts_with("rank_") &&
         (name.ends_with("_memory_stats.yaml") || name.ends_with("_memory_stats.yml") ||
          name.ends_with("_memory_stats.json"));
}

MemoryStatsFile parse_memory_stats(const std::string& path, std::string text) {
  MemoryStatsFile file;
  file.path = path;
  const bool is_json = text.find_first_not_of(" \n\t") != std::string::npos &&
                       text[text.find_first_not_of(" \n\t")] == '{';
  if (!is_json && !text.empty() && text.back() != '\n') {
    // A number in a cut line may lack digits.
    text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
    file.is_cut = true;
    ++file.left_out;
  }
  try {
    YAML::Node node = YAML::Load(text);
    if (node.IsMap() && node["dictitems"]) node = node["dictitems"];
    if (!node.IsMap()) throw Error(path, kWanted);
    for (const auto& entry : node) {
      MemorySnapshot snapshot;
      const bool fits = entry.first.IsScalar() && read_key(entry.first.Scalar(), snapshot);
      if (fits && entry.second.IsMap()) {
        read_values(entry.second, snapshot, file.left_out);
        file.snapshots.push_back(std::move(snapshot));
      } else {
        ++file.left_out;
      }
    }
  } catch (const YAML::Exception& error) {
    throw Error(path, error.mark.is_null()
                          ? error.msg
                          : "line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
  if (file.snapshots.empty()) throw Error(path, kWanted);
  return file;
}

MemoryStatsFile read_memory_stats(const std::string& path) {
  return parse_memory_stats(path, read_text(path, kMostBytes));
}

std::vector<std::string> take_memory_stats(std::vector<std::string>& arguments) {
  std::vector<std::string> taken;
  std::vector<std::string> left;
  for (const std::string& argument : arguments) {
    std::error_code error;
    if (fs::is_directory(argument, error)) {
      const std::vector<std::string> stats = stats_below(argument);
      const std::vector<std::string> traces =
          stats.empty() ? std::vector{argument} : traces_of(argument);
      taken.insert(taken.end(), stats.begin(), stats.end());
      left.insert(left.end(), traces.begin(), traces.end());
    } else if (is_yaml_name(argument)) {
      for (const Input& input : expand_inputs({argument})) taken.push_back(input.path);
    } else if (is_memory_stats_name(argument)) {
      taken.push_back(argument);
    } else {
      left.push_back(argument);
    }
  }
  arguments = std::move(left);
  std::sort(taken.begin(), taken.end(), natural_less);
  taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
  return taken;
}

std::vector<MemoryStatsRow> compare_memory_stats(const std::vector<MemoryStatsFile>& files,
                                                 const MemoryStatsOptions& options) {
  std::vector<MemoryStatsRow> rows;
  for (const auto& [key, ranks] : gather(files)) {
    if (!options.all && (is_zero(ranks) || is_pool(key.second))) continue;
    const auto add = [&, &key = key](const std::map<std::int64_t, Course>& of_ranks,
                                     std::optional<std::int64_t> rank) {
      rows.push_back(row_of(of_ranks));
      std::tie(rows.back().function, rows.back().value) = key;
      rows.back().rank = rank;
    };
    if (!options.by_rank) add(ranks, std::nullopt);
    if (options.by_rank)
      for (const auto& [rank, course] : ranks) add({{rank, course}}, rank);
  }
  return rows;
}

bool is_bytes_value(const std::string& value) {
  return value.starts_with("rss") || value.starts_with("vms") || value.starts_with("npp") ||
         value.find("bytes") != std::string::npos;
}

}  // namespace traceloom
