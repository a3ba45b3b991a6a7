#include "analysis/numbers.h"
#include "analysis/snapshots/memory_files.h"
#include "analysis/snapshots/tracker_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kPlacesForPeople = 20;
constexpr std::size_t kHoldersNamed = 3;
constexpr std::size_t kOomLines = 3;
constexpr std::int64_t kSmallestLeak = 10'000;  // parts of a peak: a smaller leak a step is no news

// A Device refers to one of the devices of a snapshot.
struct Device {
  const SnapshotFile* file = nullptr;
  const MemoryAnswer* memory = nullptr;

  std::int64_t rank() const { return file->rank; }
  std::int64_t peak() const { return memory->peak.requested; }
  std::string name() const { return fmt::format("GPU{}", memory->device); }
  std::string words() const { return fmt::format("Rank {}: {}", rank(), name()); }
  std::int64_t waiting() const { return memory->end.active - memory->end.allocated; }
};
using Devices = std::vector<Device>;

// Returns them in the order of the files.
Devices devices_of(const MemoryFiles& files) {
  Devices devices;
  for (const SnapshotFile& file : files.snapshots)
    for (const MemoryAnswer& memory : file.devices) devices.push_back({&file, &memory});
  return devices;
}

// Devices that ran out of memory come first, then the highest peaks.
Devices sorted_devices(Devices devices) {
  std::ranges::stable_sort(devices, std::greater(), [](const Device& one) {
    return std::tuple(one.memory->ooms > 0, one.peak(), -one.rank());
  });
  return devices;
}

// The order of the snapshots of one rank: iterations, and in one its start before its end.
auto moment_of(const SnapshotFile& file) {
  return std::tuple(file.iteration.value_or(0), !file.is_start);
}

// Returns the first device of each rank and number; of equal ones the later.
Devices shown_devices(const Devices& devices) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> places;
  Devices shown;
  for (const Device& device : devices) {
    const auto [at, is_new] =
        places.emplace(std::pair{device.rank(), device.memory->device}, shown.size());
    if (is_new) shown.push_back(device);
    Device& chosen = shown[at->second];
    if (device.memory->ooms == chosen.memory->ooms && device.peak() == chosen.peak() &&
        moment_of(*device.file) >= moment_of(*chosen.file))
      chosen = device;
  }
  return shown;
}

auto memory_of(auto member) {
  return [member](const Device& of) { return to_cell(of.memory->*member); };
}
auto state_of(MemoryState MemoryAnswer::*state, std::int64_t MemoryState::*member) {
  return [state, member](const Device& of) { return (of.memory->*state).*member; };
}
Cell time_cell(std::int64_t at_ns) {
  return cell_if(at_ns != kNoTime, at_ns);
}

Table snapshot_table(const Devices& devices) {
  using enum ColumnKind;
  using enum Readers;
  using State = MemoryState;
  using Memory = MemoryAnswer;
  const ColumnsOf<Device> columns{
      {"rank", "Rank", count, &Device::rank},
      {"device", "Device", text, &Device::name},
      {"peak_requested_bytes", "Peak", bytes, &Device::peak},
      {"peak_step", "In step", count, some, memory_of(&Memory::peak_step)},
      {"peak_in", "In", text, few, [](auto& of) { return text_or_nothing(of.memory->peak_in); }},
      {"peak_at_ns", "Peak at", count, programs, memory_of(&Memory::peak_at_ns)},
      {"peak_active_bytes", "Active", bytes, few, state_of(&Memory::peak, &State::active)},
      {"peak_allocated_bytes", "Allocated", bytes, programs,
       state_of(&Memory::peak, &State::allocated)},
      {"peak_reserved_bytes", "Reserved", bytes, most, state_of(&Memory::peak, &State::reserved)},
      {"end_requested_bytes", "At end", bytes, most, state_of(&Memory::end, &State::requested)},
      {"end_allocated_bytes", "Allocated", bytes, few, state_of(&Memory::end, &State::allocated)},
      {"end_active_bytes", "Active", bytes, programs, state_of(&Memory::end, &State::active)},
      {"end_reserved_bytes", "Reserved", bytes, some, state_of(&Memory::end, &State::reserved)},
      {"waiting_bytes", "Waiting", bytes, few, &Device::waiting},
      {"inactive_bytes", "Free in it", bytes, some, memory_of(&Memory::inactive)},
      {"largest_free_bytes", "Largest", bytes, some, memory_of(&Memory::largest_free)},
      {"rounding_bytes", "Rounding", bytes, few, memory_of(&Memory::rounding)},
      {"reclaimable_bytes", "Reclaimable", bytes, few, memory_of(&Memory::reclaimable)},
      {"private_pool_bytes", "Private pools", bytes, few, memory_of(&Memory::private_pools)},
      {"pinned_bytes", "Pinned", bytes, few, [](auto& of) { return of.file->facts.pinned_bytes; }},
      {"entries", "Entries", count, some, memory_of(&Memory::entries)},
      {"complete", "Whole", flag, some, memory_of(&Memory::is_complete)},
      {"from_ns", "From", count, programs, [](auto& of) { return time_cell(of.memory->from_ns); }},
      {"frees_without_alloc", "Unmatched", count, few, memory_of(&Memory::frees_without_alloc)},
      {"contradictions", "Odd", count, programs, memory_of(&Memory::contradictions)},
      {"unknown_actions", "Unknown", count, programs, memory_of(&Memory::unknown_actions)},
      {"marks", "Marks", count, programs, memory_of(&Memory::checks)},
      {"marks_that_fit", "Fit", count, programs, memory_of(&Memory::checks_that_fit)},
      {"left_out", "Left out", count, programs, [](auto& of) { return of.file->facts.left_out; }},
      {"file", "File", text, few, [](auto& of) { return of.file->path; }},
  };
  return make_table(devices, columns);
}

// A row shows one part of what is known of its device.
template <typename Part>
struct PartOf : Device {
  const Part* part = nullptr;
};

template <typename Part>
std::vector<PartOf<Part>> parts_of(const Devices& devices, std::vector<Part> MemoryAnswer::*list) {
  std::vector<PartOf<Part>> rows;
  for (const Device& device : devices)
    for (const Part& part : device.memory->*list) rows.push_back({device, &part});
  return rows;
}

// Makes the value of a column from a member of the part.
auto part_of(auto member) {
  return [member](const auto& of) { return value_in(member, *of.part); };
}

Table place_table(const Devices& devices) {
  using enum ColumnKind;
  using enum Readers;
  using Row = PartOf<PlaceMemory>;
  using Place = PlaceMemory;
  std::map<std::string_view, Spread> spreads;
  for (const Device& device : devices) {
    std::map<std::string_view, std::int64_t> sums;  // a place may have several categories
    for (const Place& place : device.memory->places) add_to(sums[place.place], place.at_peak);
    for (const auto& [place, sum] : sums) spreads[place].add(sum, device.rank());
  }
  for (auto& [place, spread] : spreads)
    if (static_cast<std::size_t>(spread.ranks) < devices.size()) spread.least = 0;
  const bool are_several = devices.size() > 1;
  const auto spread_of = [&](auto member) {
    return [&spreads, member](const Row& of) { return spreads[of.part->place].*member; };
  };
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"device", "Device", text, &Row::name},
      {"share", "Share", share, share_of(part_of(&Place::at_peak), &Row::peak)},
      {"at_peak_bytes", "At peak", bytes, part_of(&Place::at_peak)},
      {"at_peak_count", "Allocs", count, most, part_of(&Place::at_peak_count)},
      {"at_end_bytes", "At end", bytes, most, part_of(&Place::at_end)},
      {"at_end_count", "Allocs at end", count, programs, part_of(&Place::at_end_count)},
      {"least_bytes", "Least", bytes, some, are_several, spread_of(&Spread::least)},
      {"most_bytes", "Most", bytes, some, are_several, spread_of(&Spread::most)},
      {"most_rank", "Of rank", count, some, are_several, spread_of(&Spread::most_rank)},
      {"category", "Category", text, most, [](auto& of) { return to_string(of.part->category); }},
      {"place", "Place", text, part_of(&Place::place)},
  };
  return make_table(parts_of(devices, &MemoryAnswer::places), columns);
}

// A category of a snapshot or of a timeline.
struct CategoryRow {
  std::int64_t rank = 0;
  std::string device;
  std::string_view category;
  std::int64_t peak = 0;  // of all categories
  std::int64_t at_peak = 0;
  std::optional<std::int64_t> at_end;
};

Table category_table(const Devices& devices, const MemoryFiles& files) {
  using enum ColumnKind;
  using enum Readers;
  std::vector<CategoryRow> rows;
  for (const Device& device : devices) {
    std::map<MemoryCategory, std::pair<std::int64_t, std::int64_t>> sums;
    for (const PlaceMemory& place : device.memory->places) {
      add_to(sums[place.category].first, place.at_peak);
      add_to(sums[place.category].second, place.at_end);
    }
    const std::size_t first = rows.size();
    for (const auto& [category, sum] : sums)
      rows.push_back({device.rank(), device.name(), to_string(category), device.peak(), sum.first,
                      sum.second});
    std::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                     [](auto& a, auto& b) { return a.at_peak > b.at_peak; });
  }
  for (const RankedTimeline* const one : highest_timelines(files))
    for (std::size_t i = 0; i < kTimelineCategoryCount; ++i)
      if (one->at_peak[i] != 0)
        rows.push_back(
            {one->rank, "", kTimelineCategories[i], one->peak, one->at_peak[i], one->at_end[i]});
  const ColumnsOf<CategoryRow> columns{
      {"rank", "Rank", count, &CategoryRow::rank},
      {"device", "Device", text, text_of(&CategoryRow::device)},
      {"share", "Share", share, share_of(&CategoryRow::at_peak, &CategoryRow::peak)},
      {"at_peak_bytes", "At peak", bytes, &CategoryRow::at_peak},
      {"at_end_bytes", "At end", bytes, some, &CategoryRow::at_end},
      {"category", "Category", text, &CategoryRow::category},
  };
  return make_table(rows, columns);
}

Table leak_table(const Devices& devices) {
  using enum ColumnKind;
  using Row = PartOf<MemoryLeak>;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"device", "Device", text, &Row::name},
      {"bytes_per_step", "Bytes/step", bytes, part_of(&MemoryLeak::bytes_per_step)},
      {"steps", "Steps", count, part_of(&MemoryLeak::steps)},
      {"place", "Place", text, part_of(&MemoryLeak::place)},
  };
  std::vector<Row> rows = parts_of(devices, &MemoryAnswer::leaks);
  std::ranges::stable_sort(rows, std::greater(), part_of(&MemoryLeak::bytes_per_step));
  return make_table(rows, columns);
}

Table oom_table(const Devices& devices) {
  using enum ColumnKind;
  using enum Readers;
  using Row = PartOf<OutOfMemory>;
  using Oom = OutOfMemory;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"device", "Device", text, &Row::name},
      {"requested_bytes", "Asked for", bytes, part_of(&Oom::requested)},
      {"device_free_bytes", "Free on device", bytes, part_of(&Oom::device_free)},
      {"reserved_bytes", "Reserved", bytes, part_of(&Oom::reserved)},
      {"inactive_bytes", "Free in it", bytes, part_of(&Oom::inactive)},
      {"largest_free_bytes", "Largest", bytes, part_of(&Oom::largest_free)},
      {"cause", "Cause", text,
       [](auto& of) { return of.part->is_fragmented ? "fragmentation" : "full"; }},
      {"at_ns", "At", count, programs, [](auto& of) { return time_cell(of.part->at_ns); }},
      {"place", "Place", text, part_of(&Oom::place)},
  };
  return make_table(parts_of(devices, &MemoryAnswer::out_of_memory), columns);
}

// --- growth between two snapshots

struct Pair {
  Device before;
  Device after;
};

std::vector<Pair> pairs_of(const Devices& all, const MemoryFileOptions& options) {
  using Key = std::tuple<std::int64_t, std::int64_t, std::string_view>;
  std::map<Key, Devices> by_device;
  Devices sides[2];
  for (const Device& one : all) {
    const std::string_view function = options.base ? std::string_view() : one.file->function;
    by_device[{one.rank(), one.memory->device, function}].push_back(one);
    if (options.base) sides[one.file->argument > *options.base ? 1 : 0].push_back(one);
  }
  std::vector<Pair> pairs;
  // Two snapshots that were named are a pair, also of two ranks.
  const auto is_one_file = [](const Devices& side) {
    return !side.empty() && side.front().file == side.back().file;
  };
  if (is_one_file(sides[0]) && is_one_file(sides[1])) {
    const bool are_two = sides[0].size() == 1 && sides[1].size() == 1;
    for (const Device& before : sides[0])
      for (const Device& after : sides[1])
        if (are_two || before.memory->device == after.memory->device)
          pairs.push_back({before, after});
    return pairs;
  }
  const auto moment = [&](const Device& of) {
    return std::pair{options.base ? of.file->argument : 0, moment_of(*of.file)};
  };
  for (const auto& [key, devices] : by_device) {
    const auto first = std::ranges::min_element(devices, {}, moment);
    const auto last = std::ranges::max_element(devices, {}, moment);
    if (moment(*first) < moment(*last))
      pairs.push_back({*first, *last});
    else if (devices.size() > 1)  // names without iterations: the order of the files
      pairs.push_back({devices.front(), devices.back()});
  }
  return pairs;
}

struct Growth : Pair {
  std::string_view place;
  std::int64_t at_start = 0;
  std::int64_t at_end = 0;
  std::int64_t peak_difference = 0;

  std::int64_t difference() const { return at_end - at_start; }
};

std::vector<Growth> growth_of(const std::vector<Pair>& pairs) {
  std::vector<Growth> rows;
  for (const Pair& pair : pairs) {
    std::map<std::string_view, Growth> places;
    const auto add = [&](const Device& device, std::int64_t Growth::*side, std::int64_t sign) {
      for (const PlaceMemory& place : device.memory->places) {
        Growth& row = places.try_emplace(place.place, Growth{pair, place.place}).first->second;
        add_to(row.*side, place.at_end);
        add_to(row.peak_difference, sign * place.at_peak);
      }
    };
    add(pair.before, &Growth::at_start, -1);
    add(pair.after, &Growth::at_end, 1);
    for (const auto& [place, row] : places)
      if (row.difference() != 0 || row.peak_difference != 0) rows.push_back(row);
  }
  std::ranges::stable_sort(rows, std::greater(), [](const Growth& row) {
    return std::pair{row.difference(), row.peak_difference};
  });
  return rows;
}

Table growth_table(const std::vector<Growth>& rows) {
  using enum ColumnKind;
  using enum Readers;
  const ColumnsOf<Growth> columns{
      {"rank", "Rank", count, path(&Growth::after, &Device::rank)},
      {"device", "Device", text, path(&Growth::after, &Device::name)},
      {"before_bytes", "Before", bytes, &Growth::at_start},
      {"after_bytes", "After", bytes, &Growth::at_end},
      {"difference_bytes", "Difference", bytes, &Growth::difference},
      {"peak_difference_bytes", "At peak", bytes, some, &Growth::peak_difference},
      {"place", "Place", text, &Growth::place},
      {"before_file", "Before in", text, programs, [](auto& of) { return of.before.file->path; }},
      {"after_file", "After in", text, programs, [](auto& of) { return of.after.file->path; }},
  };
  return make_table(rows, columns);
}

// --- the verdict

std::string holders_at_end(const Device& device) {
  std::vector<PlaceMemory> places = device.memory->places;
  std::ranges::stable_sort(places, std::greater(), &PlaceMemory::at_end);
  std::vector<std::string> words;
  for (const PlaceMemory& place : places)
    if (words.size() < kHoldersNamed && place.at_end > 0)
      words.push_back(fmt::format("{} {}", place.place, bytes_words(place.at_end)));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string oom_line(const Device& device) {
  const OutOfMemory& oom = device.memory->out_of_memory.back();
  std::string line = fmt::format(
      "{} ran out of memory at {}: {} asked for; {} were free on the device, and {} in segments, "
      "in pieces of at most {}",
      device.words(), oom.place, bytes_words(oom.requested), bytes_words(oom.device_free),
      bytes_words(oom.inactive), bytes_words(oom.largest_free));
  if (!oom.is_fragmented)
    line += ", so memory is full";
  else if (device.file->facts.expandable_segments.value_or(false))
    line += ", so it is fragmented, though expandable_segments is on";
  else
    line += ", so it is fragmented; expandable_segments:True may have joined them";
  const std::string holders = holders_at_end(device);
  return line + (holders.empty() ? "." : fmt::format(". Largest holders: {}.", holders));
}

// The highest peak of all snapshots of a device counts.
std::int64_t median_peak(const Devices& all) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> highest;
  for (const Device& device : all) {
    std::int64_t& peak = highest[{device.rank(), device.memory->device}];
    peak = std::max(peak, device.peak());
  }
  std::vector<std::int64_t> peaks;
  for (const auto& [key, peak] : highest) peaks.push_back(peak);
  return percentile(peaks, 50);
}

std::string peak_line(const Devices& all) {
  const Device& worst = *std::ranges::max_element(all, {}, &Device::peak);
  const MemoryAnswer& memory = *worst.memory;
  const std::int64_t peak = worst.peak();
  std::string line = fmt::format("{} peaks at {}", worst.words(), bytes_words(peak));
  if (memory.peak_step) line += fmt::format(" in step {}", *memory.peak_step);
  if (const std::int64_t median = median_peak(all); median > 0 && peak - median > median / 100)
    line += fmt::format(", {} above the median", percent_words(peak - median, median));
  if (!memory.places.empty() && memory.places.front().at_peak > 0)
    line += fmt::format("; {} holds {} of it", memory.places.front().place,
                        percent_words(memory.places.front().at_peak, peak));
  for (const MemoryLeak& leak : memory.leaks)
    if (leak.bytes_per_step > peak / kSmallestLeak) {
      line += fmt::format("; {} keeps {} a step", leak.place, bytes_words(leak.bytes_per_step));
      break;
    }
  return line + ".";
}

void add_verdict(const Devices& all, const Devices& devices, const std::vector<Growth>& growth,
                 Report& report) {
  if (devices.empty()) return;
  std::size_t lines = 0;
  for (const Device& device : devices)
    if (device.memory->ooms > 0 && lines++ < kOomLines) report.headline.push_back(oom_line(device));
  report.headline.push_back(peak_line(all));
  if (!growth.empty() && growth.front().difference() > 0)
    report.headline.push_back(
        fmt::format("{} has {} more at {} in the second snapshot than in the first.",
                    growth.front().after.words(), bytes_words(growth.front().difference()),
                    growth.front().place));
}

// --- notes

void add_snapshot_notes(const MemoryFiles& files, Report& report) {
  RankNotes notes;
  Devices by_rank = devices_of(files);
  std::ranges::stable_sort(by_rank, {}, &Device::rank);
  for (const Device& device : by_rank)
    if (device.memory->entries == 0)
      notes.add(device.rank(),
                "no history: torch.cuda.memory._record_memory_history() was not on, so the peak is "
                "what was there at the end");
    else if (!device.memory->is_complete && device.memory->contradictions == 0)
      notes.add(device.rank(),
                "memory was allocated before the history, so the peak of the run may be higher, "
                "and only what was never freed has a place");
  notes.append_to(report);
  const auto say = [&](const SnapshotFile& file, std::uint64_t number, std::string_view noun,
                       std::string_view what) {
    if (number > 0)
      report.notes.push_back(fmt::format("{}: {} {}", file.path, count_of(number, noun), what));
  };
  for (const SnapshotFile& file : files.snapshots) {
    say(file, file.facts.left_out, "part", "of another form left out");
    say(file, file.facts.trailing_bytes, "byte", "after the end of the pickle not read");
    for (const MemoryAnswer& memory : file.devices) {
      say(file, memory.contradictions, "entry",
          "of the history against the blocks or each other: sums of the past are not sure");
      say(file, memory.unknown_actions, "entry", "of an unknown kind");
      say(file, memory.checks - memory.checks_that_fit, "mark",
          "of what was active against the history");
      if (memory.ooms > memory.out_of_memory.size())
        say(file, memory.ooms, "time", "out of memory; the last ones are shown");
    }
  }
}

}  // namespace

void add_memory_files(const MemoryFiles& files, const MemoryFileOptions& options, Report& report) {
  const Devices found = devices_of(files);
  const Devices all = sorted_devices(found);
  const Devices shown = shown_devices(all);
  const std::vector<Growth> growth = growth_of(pairs_of(found, options));
  add_verdict(all, shown, growth, report);
  const auto add = [&](const char* key, const char* title, Table table, std::size_t rows) {
    report.tables.push_back({key, title, std::move(table), false, "", rows});
  };
  add("snapshots", "Allocator snapshots", snapshot_table(all), kRowsForPeople);
  add("oom", "Out of memory", oom_table(shown), kRowsForPeople);
  add("places", "Who held what at the peak", place_table(shown), options.places);
  add("categories", shown.empty() ? "What for" : "What for, as far as frames tell",
      category_table(shown, files), kPlacesForPeople);
  add("leaks", "Kept in each step", leak_table(shown), kPlacesForPeople);
  add("growth", "Growth between two snapshots", growth_table(growth), kPlacesForPeople);
  add_snapshot_notes(files, report);
  add_trackers(files, report);
  for (const std::string& note : files.notes) report.notes.push_back(note);
  for (const std::string& error : files.errors) report.notes.push_back(error);
}

}  // namespace traceloom
