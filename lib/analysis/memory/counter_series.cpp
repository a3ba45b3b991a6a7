#include "analysis/memory/counter_series.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr double kBlock = 512;
constexpr double kEighth = 8;
constexpr double kKb = 1e3;
constexpr double kMb = 1e6;
constexpr double kGb = 1e9;
constexpr double kKib = 1024;
constexpr double kMib = kKib * kKib;
constexpr double kGib = kMib * kKib;
constexpr double kMostGb = 32'768;                       // the most GB that a machine has
constexpr double kLeastBytes = 100'000;                  // no device has more "GB" of memory
constexpr std::string_view kComposerKey = "field_name";  // Composer's key of all disk counters

enum class Measure : std::uint8_t {
  level,  // valid from the time at which it was written
  load,   // describes the time since the previous value
  total,  // counts from some beginning
};

struct Meaning {
  double factor = 1;
  QuantityUnit unit = QuantityUnit::none;
  Measure measure = Measure::level;
};

struct EndingRow {
  std::string_view ending;
  Meaning meaning;
};
// The endings of names that contain their unit; the first match is used. They are searched for in
// the key of a value, then in the name of its counter.
constexpr EndingRow kEndings[] = {
    {"bytes_per_second", {1, QuantityUnit::bytes_per_second, Measure::load}},
    {"bytes_per_sec", {1, QuantityUnit::bytes_per_second, Measure::load}},
    {"bytes_per_s", {1, QuantityUnit::bytes_per_second, Measure::load}},
    {"_kb_per_s", {kKb, QuantityUnit::bytes_per_second, Measure::load}},
    {"_mb_per_s", {kMb, QuantityUnit::bytes_per_second, Measure::load}},
    {"_gb_per_s", {kGb, QuantityUnit::bytes_per_second, Measure::load}},
    {"bytes/s", {1, QuantityUnit::bytes_per_second, Measure::load}},
    {"per_second", {1, QuantityUnit::per_second, Measure::load}},
    {"per_sec", {1, QuantityUnit::per_second, Measure::load}},
    {"per_s", {1, QuantityUnit::per_second, Measure::load}},
    {"/s", {1, QuantityUnit::per_second, Measure::load}},
    {"percent", {0.01, QuantityUnit::share, Measure::load}},
    {"_pct", {0.01, QuantityUnit::share, Measure::load}},
    {"_kb", {kKb, QuantityUnit::bytes, Measure::level}},
    {"_mb", {kMb, QuantityUnit::bytes, Measure::level}},
    {"_gb", {kGb, QuantityUnit::bytes, Measure::level}},
    {"_kib", {kKib, QuantityUnit::bytes, Measure::level}},
    {"_mib", {kMib, QuantityUnit::bytes, Measure::level}},
    {"_gib", {kGib, QuantityUnit::bytes, Measure::level}},
    {"bytes", {1, QuantityUnit::bytes, Measure::level}},
    {"rss", {1, QuantityUnit::bytes, Measure::level}},
    {"vms", {1, QuantityUnit::bytes, Measure::level}},
};

// The disk counters that Composer reads; all count since boot.
constexpr EndingRow kDiskFields[] = {
    {"read_count", {1, QuantityUnit::per_second, Measure::total}},
    {"write_count", {1, QuantityUnit::per_second, Measure::total}},
    {"read_bytes", {1, QuantityUnit::bytes_per_second, Measure::total}},
    {"write_bytes", {1, QuantityUnit::bytes_per_second, Measure::total}},
    {"read_time", {1e-3, QuantityUnit::share, Measure::total}},  // ms
    {"write_time", {1e-3, QuantityUnit::share, Measure::total}},
    {"busy_time", {1e-3, QuantityUnit::share, Measure::total}},
};

template <std::size_t kRows>
const Meaning* find_ending(const EndingRow (&rows)[kRows], std::string_view text) {
  for (const EndingRow& row : rows)
    if (text.ends_with(row.ending)) return &row.meaning;
  return nullptr;
}

// Removes the unit, which stands next to the name: "used_gb" -> "used", "cpu_percent" -> "cpu".
std::string_view without_unit(std::string_view key) {
  for (const std::string_view unit :
       {"_bytes_per_s", "_kb_per_s", "_mb_per_s", "_gb_per_s", "_per_s", "_gb", "_mb", "_kb",
        "_gib", "_mib", "_kib", "_percent"})
    if (key.ends_with(unit)) return key.substr(0, key.size() - unit.size());
  return key.starts_with("kb_") ? key.substr(3) : key;
}

// Joins "memory/virtual" and "used_gb" into "memory/virtual/used". A key that repeats the name, or
// has no meaning, is left out.
std::string name_of(std::string_view name, std::string_view key) {
  const std::size_t slash = name.rfind('/');
  const std::size_t last = slash == std::string_view::npos ? 0 : slash + 1;
  const std::string head(name.substr(0, last));
  const std::string_view plain = without_unit(key);
  if (plain == name.substr(0, name.find('/')))
    return std::string(name);  // cpu/process, cpu_percent
  if (key == "value" || key == kComposerKey || plain == without_unit(name.substr(last)))
    return head + std::string(without_unit(name.substr(last)));
  return std::string(name) + "/" + std::string(plain);
}

bool is_composer_gb(std::string_view name, std::string_view key) {
  return key.ends_with("_gb") && (name == "memory/virtual" || name == "memory/swap");
}
bool is_composer_kb(std::string_view name, std::string_view key) {
  return name.starts_with("network/") && (key == "kb_sent" || key == "kb_recv");
}
bool is_device_memory(std::string_view name, std::string_view key) {
  return name.starts_with("memory/cuda/") && key.ends_with("_mem");
}

// The bytes of one unit of counters that do not name it.
struct Units {
  double gb = 0;          // of Composer's "_gb"
  double kb = 0;          // of Composer's "kb_"
  double device_mem = 1;  // of "memory/cuda/..._mem"
};

Meaning meaning_of(std::string_view name, std::string_view key, const Units& units) {
  if (is_composer_gb(name, key)) return {units.gb, QuantityUnit::bytes, Measure::level};
  if (is_composer_kb(name, key)) return {units.kb, QuantityUnit::bytes_per_second, Measure::total};
  if (is_device_memory(name, key)) return {units.device_mem, QuantityUnit::bytes, Measure::level};
  const Meaning* found = key == kComposerKey ? find_ending(kDiskFields, name) : nullptr;
  if (found == nullptr) found = find_ending(kEndings, key);
  if (found == nullptr) found = find_ending(kEndings, name);
  return found == nullptr ? Meaning{} : *found;
}

// Decides for blocks of 512 bytes if used or available memory ever exceeds 32 Ki "GB": no machine
// has that much, and every one has that many blocks (16 MiB). "kb_" then has blocks, too. Without
// memory counters they are blocks of 8 bytes if all values are whole eighths, which KiB rarely are.
Units find_units(const Run& run, const RankEvents& rank) {
  double most_memory = 0;
  double most_device = 0;
  bool any_memory = false;
  bool eighths = true;
  rank.for_each_counter([&](const CounterSample& sample) {
    const std::string_view name = run.labels.name(sample.label);
    const std::string_view key = run.details[sample.key];
    if (name == "memory/virtual" && is_composer_gb(name, key)) {
      any_memory = true;
      most_memory = std::max(most_memory, sample.value);
    }
    if (is_device_memory(name, key)) most_device = std::max(most_device, sample.value);
    if (is_composer_kb(name, key))
      eighths = eighths && sample.value * kEighth == std::floor(sample.value * kEighth);
  });
  const bool blocks = any_memory ? most_memory > kMostGb : eighths;
  // Composer wrote the memory of devices as bytes until v0.12, then as GB of 10^9.
  const double device_mem = most_device < kLeastBytes ? kGb : 1;
  return blocks ? Units{kBlock, kEighth, device_mem} : Units{kGb, kKb, device_mem};
}

// The name, the key in the args, and the pid.
using SeriesKey = std::tuple<std::string_view, std::string_view, std::string_view>;

using Points = std::vector<std::pair<std::int64_t, double>>;  // time and value as written

struct Samples {
  std::string name;
  Meaning meaning;
  std::string_view pid;
  Points points;
};

void add_levels(const Samples& samples, CounterSeries& series) {
  for (std::size_t i = 0; i < samples.points.size(); ++i) {
    const auto& [at_ns, value] = samples.points[i];
    const bool is_load = samples.meaning.measure == Measure::load;
    Interval time{at_ns, at_ns};
    if (is_load && i > 0) time.from_ns = samples.points[i - 1].first;
    if (!is_load && i + 1 < samples.points.size()) time.to_ns = samples.points[i + 1].first;
    series.values.push_back({at_ns, time, value * samples.meaning.factor});
  }
}

void add_rates(const Samples& samples, CounterSeries& series) {
  series.is_rate = true;
  for (std::size_t i = 1; i < samples.points.size(); ++i) {
    const auto& [from_ns, before] = samples.points[i - 1];
    const auto& [to_ns, after] = samples.points[i];
    if (to_ns == from_ns) continue;
    if (after < before) {
      ++series.restarts;
      continue;
    }
    const double seconds = static_cast<double>(to_ns - from_ns) * 1e-9;
    const double rate = (after - before) * samples.meaning.factor / seconds;
    series.values.push_back({to_ns, {from_ns, to_ns}, rate});
  }
}

std::int64_t median_distance(const Points& points) {
  std::vector<std::int64_t> distances;
  for (std::size_t i = 1; i < points.size(); ++i)
    distances.push_back(points[i].first - points[i - 1].first);
  return percentile(std::move(distances), 50);
}

// Our sampler writes only the first of several zeros. If it wrote the load of the CPU, which every
// sample has, and no rate of a device, the rate was 0.
void add_silent_zeros(const Points& polls, Points& points) {
  const std::int64_t near_ns = median_distance(polls) / 2;
  const std::size_t known = points.size();
  std::size_t next = 0;
  for (const auto& [at_ns, load] : polls) {
    while (next < known && points[next].first < at_ns - near_ns) ++next;
    if (next == known || points[next].first > at_ns + near_ns) points.emplace_back(at_ns, 0);
  }
  std::sort(points.begin(), points.end());
}

bool is_device_rate(const Samples& samples) {
  return samples.meaning.measure == Measure::load &&
         (samples.name.starts_with("disk/") || samples.name.starts_with("network/"));
}

CounterSeries series_of(const Samples& samples) {
  CounterSeries series;
  series.name = samples.name;
  series.process = samples.pid;
  series.unit = samples.meaning.unit;
  if (samples.meaning.measure == Measure::total)
    add_rates(samples, series);
  else
    add_levels(samples, series);
  return series;
}

// Keeps a process only if two series would otherwise have the same name.
void drop_needless_processes(std::vector<CounterSeries>& series) {
  std::map<std::string, std::size_t> times;
  for (const CounterSeries& one : series) ++times[one.name];
  for (CounterSeries& one : series)
    if (times[one.name] == 1) one.process.clear();
}

}  // namespace

bool uses_blocks(const Run& run, const RankEvents& rank) {
  bool any = false;
  rank.for_each_counter([&](const CounterSample& sample) {
    const std::string_view name = run.labels.name(sample.label);
    const std::string_view key = run.details[sample.key];
    any |= (is_composer_gb(name, key) || is_composer_kb(name, key)) && sample.value != 0;
  });
  return any && find_units(run, rank).gb == kBlock;
}

std::vector<CounterSeries> find_counters(const Run& run, const RankEvents& rank) {
  const Units units = find_units(run, rank);
  std::map<SeriesKey, Samples> found;
  rank.for_each_counter([&](const CounterSample& sample) {
    const std::string_view name = run.labels.name(sample.label);
    const std::string_view key = run.details[sample.key];
    const std::string_view pid = run.tracks.pid(sample.track);
    Samples& samples = found[{name, key, pid}];
    if (samples.points.empty())
      samples = {name_of(name, key), meaning_of(name, key, units), pid, {}};
    samples.points.emplace_back(sample.start_ns, sample.value);
  });
  const Points* polls = nullptr;
  for (auto& [key, samples] : found) {
    // Points at equal times are sorted by value, so that the order of files has no influence.
    std::sort(samples.points.begin(), samples.points.end());
    if (samples.name == "cpu" && (polls == nullptr || samples.points.size() > polls->size()))
      polls = &samples.points;
  }
  std::vector<CounterSeries> series;
  series.reserve(found.size());
  for (auto& [key, samples] : found) {
    if (polls != nullptr && is_device_rate(samples)) add_silent_zeros(*polls, samples.points);
    series.push_back(series_of(samples));
  }
  std::ranges::stable_sort(
      series, {}, [](const CounterSeries& one) { return std::tie(one.name, one.process); });
  drop_needless_processes(series);
  return series;
}

}  // namespace traceloom
