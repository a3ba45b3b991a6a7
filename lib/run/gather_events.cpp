#include "run/gather_events.h"

#include "team/wire.h"

#include <cstdint>
#include <string>
#include <string_view>
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
    template <typename Wire>
    void wire(Wire& wire) {
      wire(name, category, kind);
    }
  };
  struct Track {
    std::size_t file = 0;
    std::string pid;
    std::string tid;
    template <typename Wire>
    void wire(Wire& wire) {
      wire(file, pid, tid);
    }
  };
  std::vector<Label> labels;
  std::vector<Track> tracks;
  std::vector<std::string> details;
  template <typename Wire>
  void wire(Wire& wire) {
    wire(labels, tracks, details);
  }
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
  Renumbering(const Texts& texts, EventCollector& collector) {
    for (const Texts::Label& label : texts.labels)
      labels_.push_back(collector.labels().intern(label.name, label.category, label.kind));
    for (const Texts::Track& track : texts.tracks)
      tracks_.push_back(collector.tracks().intern(track.file, track.pid, track.tid));
    for (const std::string& detail : texts.details)
      details_.push_back(collector.details().intern(detail));
  }

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

 private:
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
  const Renumbering numbers(texts, collector);
  for (std::size_t i = files.begin; i < files.end; ++i) {
    CollectedEvents& file = collector.files()[i];
    reader(file);
    for (EventColumns& part : file.parts) {
      numbers.apply(part);
      part.shrink_to_fit();
    }
  }
}

}  // namespace

void gather_events(Team& team, const FileBlock& own, EventCollector& collector) {
  if (team.is_alone()) return;
  team.gather(team.is_first() ? std::string() : pack(own, collector),
              [&](std::size_t rank, const std::string& bytes) {
                if (rank > 0) unpack(bytes, collector);
              });
}

}  // namespace traceloom
