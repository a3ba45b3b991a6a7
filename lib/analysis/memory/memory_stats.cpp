#include "analysis/memory/memory_stats.h"

#include "analysis/numbers.h"
#include "base/ascii.h"
#include "base/problems.h"
#include "input/byte_source.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>
#include <yaml-cpp/yaml.h>

namespace traceloom {
namespace {

// The key for the time of a snapshot of our recorder.
constexpr std::string_view kTimeKey = "time_ns";

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

constexpr char kWanted[] =
    "is no memory stats: a mapping of rank.function.iteration.start|end to what was measured";

bool read_key(std::string_view key, MemorySnapshot& snapshot) {
  return read_moment(key, snapshot) && snapshot.rank >= 0;
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

bool read_moment(std::string_view name, MemorySnapshot& snapshot) {
  const std::size_t first = name.find('.');
  const std::size_t last = name.rfind('.');
  if (first == std::string_view::npos || last == first) return false;
  const std::size_t middle = name.rfind('.', last - 1);
  if (middle == first) return false;
  const std::string_view end = name.substr(last + 1);
  snapshot.at_end = end == "end";
  snapshot.function = name.substr(first + 1, middle - first - 1);
  const auto iteration = whole_number<std::int64_t>(name.substr(middle + 1, last - middle - 1));
  snapshot.rank = whole_number<std::int64_t>(name.substr(0, first)).value_or(-1);
  snapshot.iteration = iteration.value_or(0);
  return is_any_of(end, "start", "end") && iteration;
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

bool is_memory_stats(const PickleDocument& document) {
  MemorySnapshot snapshot;
  const PickleValue root = document.root();
  for (std::size_t i = 0; i < document.size(root); ++i)
    if (read_key(document.text(document.key(root, i)).value_or(""), snapshot)) return true;
  return false;
}

MemoryStatsFile read_memory_stats(const PickleDocument& document, const std::string& path) {
  MemoryStatsFile file{.path = path};
  const PickleValue root = document.root();
  for (std::size_t i = 0; i < document.size(root); ++i) {
    MemorySnapshot snapshot;
    const PickleValue values = document.value(root, i);
    if (!read_key(document.text(document.key(root, i)).value_or(""), snapshot) ||
        !document.is_dict(values)) {
      ++file.left_out;
      continue;
    }
    for (std::size_t k = 0; k < document.size(values); ++k) {
      const auto name = document.text(document.key(values, k));
      const PickleValue value = document.value(values, k);
      if (value.is_none() || name == kTimeKey) continue;
      const auto number = document.number(value);
      if (name && number && std::isfinite(*number))
        snapshot.values[std::string(*name)] = *number;
      else
        ++file.left_out;
    }
    file.snapshots.push_back(std::move(snapshot));
  }
  return file;
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
