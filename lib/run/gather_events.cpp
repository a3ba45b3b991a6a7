#include "run/event_collector.h"
#include "team/wire.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace traceloom {
namespace {

// Adds the texts of another process to `texts`; returns the numbers that they have there.
Renumbering add_texts(const RunTexts& added, RunTexts& texts) {
  Renumbering numbers;
  const Labels& labels = added.labels;
  for (std::uint32_t i = 0; i < labels.size(); ++i)
    numbers.labels.push_back(
        texts.labels.intern(labels.name(i), labels.category(i), labels.kind(i)));
  const Tracks& tracks = added.tracks;
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    numbers.tracks.push_back(texts.tracks.intern(tracks.file(i), tracks.pid(i), tracks.tid(i)));
    if (tracks.is_device_row(i)) texts.tracks.mark_device_row(numbers.tracks.back());
  }
  for (std::uint32_t i = 0; i < added.details.size(); ++i)
    numbers.details.push_back(texts.details.intern(added.details[i]));
  return numbers;
}

void renumber(std::vector<EventColumns>& parts, const Renumbering& numbers) {
  for (EventColumns& part : parts) {
    part.for_each_column([&](auto& rows) {
      rewrite(rows, [&](auto& row) {
        numbers(row);
        return true;
      });
    });
    part.shrink_to_fit();
  }
}

// Readings holds what a process has read, without the columns.
struct Readings {
  FileBlock files;
  RunTexts texts;
  std::vector<CollectedEvents> readings;
};

Readings readings_of(const FileBlock& own, EventCollector& collector,
                     std::vector<std::vector<EventColumns>>& parts) {
  Readings readings{own, std::move(collector.texts()), {}};
  for (std::size_t i = own.begin; i < own.end; ++i) {
    CollectedEvents& file = collector.files()[i];
    parts.push_back(std::exchange(file.parts, {}));
    readings.readings.push_back(std::move(file));
  }
  return readings;
}

// The events of a rank on their way to another process.
struct MovedRank {
  std::int64_t rank = 0;
  std::vector<EventColumns> parts;
};

// Returns the process of each rank: without `spread` process 0, else the first that has events of
// it, or that knows it if none has any. `known` has a list for each process: its ranks, and whether
// it has events of them.
std::map<std::int64_t, std::size_t> find_owners(
    const std::vector<std::vector<std::pair<std::int64_t, bool>>>& known, bool spread) {
  std::map<std::int64_t, std::size_t> owners;
  for (const bool with_events : {true, false})
    for (std::size_t process = 0; process < known.size(); ++process)
      for (const auto& [rank, has_events] : known[process])
        if (has_events == with_events) owners.try_emplace(rank, spread ? process : 0);
  return owners;
}

}  // namespace

void share_readings(Team& team, const FileBlock& own, EventCollector& collector) {
  if (team.is_alone()) return;
  std::vector<std::vector<EventColumns>> parts;
  RunTexts texts;
  std::size_t process = 0;
  for (Readings& read : share(team, readings_of(own, collector, parts))) {
    const Renumbering numbers = add_texts(read.texts, texts);
    for (std::size_t i = 0; i < read.readings.size(); ++i) {
      CollectedEvents& file = collector.files()[read.files.begin + i];
      file = std::move(read.readings[i]);
      if (process != team.rank()) continue;
      file.parts = std::move(parts[i]);
      renumber(file.parts, numbers);
    }
    ++process;
  }
  collector.texts() = std::move(texts);
}

void settle_ranks(Team& team, std::vector<RankEvents>& ranks, bool spread) {
  if (team.is_alone()) return;
  std::vector<std::pair<std::int64_t, bool>> own;
  own.reserve(ranks.size());
  for (const RankEvents& rank : ranks) own.emplace_back(rank.rank, !rank.parts.empty());
  const std::map<std::int64_t, std::size_t> owners =
      find_owners(share(team, std::move(own)), spread);
  std::map<std::int64_t, RankEvents> settled;
  for (const auto& [rank, process] : owners) {
    settled[rank].rank = rank;
    settled[rank].is_here = process == team.rank();
  }
  std::vector<std::vector<MovedRank>> moved(team.size());
  for (RankEvents& rank : ranks) {
    const std::size_t process = owners.at(rank.rank);
    if (process == team.rank())
      settled[rank.rank].parts = std::move(rank.parts);
    else if (!rank.parts.empty())
      moved[process].push_back({rank.rank, std::move(rank.parts)});
  }
  std::vector<std::string> messages;
  messages.reserve(moved.size());
  for (std::vector<MovedRank>& to : moved) messages.push_back(to_wire(std::exchange(to, {})));
  const auto take = [&](std::size_t, const std::string& message) {
    for (MovedRank& rank : from_wire<std::vector<MovedRank>>(message))
      std::ranges::move(rank.parts, std::back_inserter(settled[rank.rank].parts));
  };
  if (!spread)
    team.gather(std::move(messages.front()), take);
  else
    for (const std::string& message : team.exchange(std::move(messages))) take(0, message);
  ranks.clear();
  for (auto& [rank, events] : settled) ranks.push_back(std::move(events));
}

}  // namespace traceloom
