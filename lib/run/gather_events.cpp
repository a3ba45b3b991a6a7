#include "run/gather_events.h"

#include "team/wire.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

// The texts of a collector, in the order of their numbers.
struct Texts {
  struct Label {
    std::string name;
    std::string category;
    EventClass kind;
    auto wired() { return std::tie(name, category, kind); }
  };
  struct Track {
    std::size_t file = 0;
    std::string pid;
    std::string tid;
    auto wired() { return std::tie(file, pid, tid); }
  };
  std::vector<Label> labels;
  std::vector<Track> tracks;
  std::vector<std::string> details;
  auto wired() { return std::tie(labels, tracks, details); }
};

Texts texts_of(EventCollector& collector) {
  Texts texts;
  const Labels& labels = collector.labels();
  for (std::uint32_t i = 0; i < labels.size(); ++i)
    texts.labels.push_back(
        {std::string(labels.name(i)), std::string(labels.category(i)), labels.kind(i)});
  const Tracks& tracks = collector.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i)
    texts.tracks.push_back(
        {tracks.file(i), std::string(tracks.pid(i)), std::string(tracks.tid(i))});
  const StringTable& details = collector.details();
  for (std::uint32_t i = 0; i < details.size(); ++i) texts.details.emplace_back(details[i]);
  return texts;
}

// Gives rows of another process the numbers that their texts have here.
class Renumbering {
 public:
  Renumbering(const Texts& texts, Labels& labels, Tracks& tracks, StringTable& details) {
    for (const Texts::Label& label : texts.labels)
      labels_.push_back(labels.intern(label.name, label.category, label.kind));
    for (const Texts::Track& track : texts.tracks)
      tracks_.push_back(tracks.intern(track.file, track.pid, track.tid));
    for (const std::string& detail : texts.details) details_.push_back(details.intern(detail));
  }

  void apply(std::vector<EventColumns>& parts) const {
    for (EventColumns& part : parts) {
      apply(part);
      part.shrink_to_fit();
    }
  }

 private:
  void apply(EventColumns& part) const {
    apply_to(part.hosts);
    apply_to(part.operators);
    apply_to(part.frames);
    apply_to(part.calls);
    apply_to(part.devices);
    apply_to(part.marks);
    for (UnknownSpans& spans : part.unknown) {
      spans.track = tracks_[spans.track];
      change_detail(spans.detail);
    }
    for (MemorySample& sample : part.memory) sample.track = tracks_[sample.track];
    for (CounterSample& sample : part.counters) {
      sample.label = labels_[sample.label];
      sample.track = tracks_[sample.track];
      change_detail(sample.key);
    }
  }
  template <typename Row>
  void apply_to(std::vector<Row>& rows) const {
    for (Row& row : rows) change(row);
  }
  template <typename Row>
  void apply_to(PackedRows<Row>& rows) const {
    rows.rewrite([this](Row& row) {
      change(row);
      return true;
    });
  }
  void change(HostSpan& span) const {
    span.label = labels_[span.label];
    span.track = tracks_[span.track];
  }
  void change(OperatorSpan& span) const {
    change(static_cast<HostSpan&>(span));
    change_detail(span.arguments);
  }
  void change(DeviceSpan& span) const {
    change(static_cast<HostSpan&>(span));
    change_detail(span.detail);
  }
  void change(MarkedSpan& span) const {
    change(static_cast<HostSpan&>(span));
    change_detail(span.arguments);
  }
  void change_detail(std::uint32_t& detail) const {
    if (detail != kNoDetail) detail = details_[detail];
  }

  std::vector<std::uint32_t> labels_;  // number here, by number there
  std::vector<std::uint32_t> tracks_;
  std::vector<std::uint32_t> details_;
};

std::string pack(const FileBlock& own, EventCollector& collector) {
  WireWriter writer;
  writer(own, texts_of(collector));
  for (std::size_t i = own.begin; i < own.end; ++i) {
    CollectedEvents& file = collector.files()[i];
    writer(file);
    file = {};
  }
  return writer.take();
}

void unpack(std::string_view bytes, EventCollector& collector) {
  WireReader reader(bytes);
  FileBlock files;
  Texts texts;
  reader(files, texts);
  const Renumbering numbers(texts, collector.labels(), collector.tracks(), collector.details());
  for (std::size_t i = files.begin; i < files.end; ++i) {
    CollectedEvents& file = collector.files()[i];
    reader(file);
    numbers.apply(file.parts);
  }
}

// Readings holds what a process has read, without the columns.
struct Readings {
  FileBlock files;
  Texts texts;
  std::vector<CollectedEvents> readings;

  auto wired() { return std::tie(files, texts, readings); }
};

Readings readings_of(const FileBlock& own, EventCollector& collector,
                     std::vector<std::vector<EventColumns>>& parts) {
  Readings readings{own, texts_of(collector), {}};
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

  auto wired() { return std::tie(rank, parts); }
};

// Returns the process of each rank: the first that has events of it, or that knows it if none has
// any. `known` has a list for each process: its ranks, and whether it has events of them.
std::map<std::int64_t, std::size_t> find_owners(
    const std::vector<std::vector<std::pair<std::int64_t, bool>>>& known) {
  std::map<std::int64_t, std::size_t> owners;
  for (const bool with_events : {true, false})
    for (std::size_t process = 0; process < known.size(); ++process)
      for (const auto& [rank, has_events] : known[process])
        if (has_events == with_events) owners.try_emplace(rank, process);
  return owners;
}

}  // namespace

void gather_events(Team& team, const FileBlock& own, EventCollector& collector) {
  if (team.is_alone()) return;
  team.gather(team.is_first() ? std::string() : pack(own, collector),
              [&](std::size_t rank, const std::string& bytes) {
                if (rank > 0) unpack(bytes, collector);
              });
}

void share_readings(Team& team, const FileBlock& own, EventCollector& collector) {
  if (team.is_alone()) return;
  std::vector<std::vector<EventColumns>> parts;
  Labels labels;
  Tracks tracks;
  StringTable details;
  std::size_t process = 0;
  for (Readings& read : share(team, readings_of(own, collector, parts))) {
    const Renumbering numbers(read.texts, labels, tracks, details);
    for (std::size_t i = 0; i < read.readings.size(); ++i) {
      CollectedEvents& file = collector.files()[read.files.begin + i];
      file = std::move(read.readings[i]);
      if (process != team.rank()) continue;
      file.parts = std::move(parts[i]);
      numbers.apply(file.parts);
    }
    ++process;
  }
  collector.labels() = std::move(labels);
  collector.tracks() = std::move(tracks);
  collector.details() = std::move(details);
}

void settle_ranks(Team& team, std::vector<RankEvents>& ranks) {
  if (team.is_alone()) return;
  std::vector<std::pair<std::int64_t, bool>> own;
  own.reserve(ranks.size());
  for (const RankEvents& rank : ranks) own.emplace_back(rank.rank, !rank.parts.empty());
  const std::map<std::int64_t, std::size_t> owners = find_owners(share(team, std::move(own)));
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
  for (const std::string& message : team.exchange(std::move(messages)))
    for (MovedRank& rank : from_wire<std::vector<MovedRank>>(message)) {
      std::vector<EventColumns>& parts = settled[rank.rank].parts;
      std::move(rank.parts.begin(), rank.parts.end(), std::back_inserter(parts));
    }
  ranks.clear();
  for (auto& [rank, events] : settled) ranks.push_back(std::move(events));
}

}  // namespace traceloom
