#include "run/event_collector.h"

#include "base/ascii.h"
#include "run/launches.h"
#include "select/selection.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>

namespace traceloom {
namespace {

// A row of the file with its meaning.
struct PlacedRow {
  RowName name;
  DeviceRow row;
  std::int32_t device = 0;
  std::int32_t stream = -1;
  // False for a row whose time another row of the same device shows better.
  bool counts = true;
  bool is_whole_device = false;  // the row is unknown and so is its whole device: see UnknownSpans
};

// A device, or a part of one, by its producer's name; a merge puts several of them under one pid.
using Device = std::pair<std::string_view, std::string_view>;

// Returns N of "N" and of "train N".
std::int64_t number_in(std::string_view name) {
  const std::size_t before = name.find_last_not_of("0123456789");
  const std::string_view digits = before == name.npos ? name : name.substr(before + 1);
  return whole_number<std::int64_t>(digits).value_or(kNoId);
}

// Returns the number of a device or stream; kNoId if there is none that is small.
std::int32_t small_number_in(std::string_view name) {
  const std::int64_t number = number_in(name);
  return static_cast<std::int32_t>(number <= 0xffff ? number : kNoId);
}

// True for rows whose names tell nothing.
bool is_plain_host(const DeviceRow& row) {
  return row.use == RowUse::host && row.maker == RowMaker::none;
}

// The rows of all spans whose meaning depends on the row, by their numbers in Tracks.
class Rows {
 public:
  Rows(const std::vector<EventColumns>& parts, const RowNames& names, const RunTexts& texts,
       bool is_understood)
      : names_(names), tracks_(texts.tracks), is_understood_(is_understood) {
    for (const EventColumns& part : parts)
      for (const RowSpan& span : part.on_rows)
        if (!rows_.contains(span.track)) rows_.emplace(span.track, make_row(span.track));
    find_rows_by_spans(parts, texts.labels);
    find_levels();
    find_unknown(parts);
    is_understood_ |= knows_any(parts);
  }

  // False if nothing in the file is known: no category, no name and no row. Then nobody knows
  // whether its spans are work.
  bool is_understood() const { return is_understood_; }
  const PlacedRow& at(std::uint32_t track) const { return rows_.at(track); }

 private:
  RowName name_of(std::uint32_t track) const {
    return names_.row(std::string(tracks_.pid(track)), std::string(tracks_.tid(track)));
  }

  PlacedRow make_row(std::uint32_t track) const {
    PlacedRow made;
    made.name = name_of(track);
    made.row = find_device_row(made.name.process, made.name.thread);
    made.device = device_number(made.name.process).value_or(0);
    if (made.row.maker == RowMaker::autograd)  // the thread is the device
      made.device = std::max(small_number_in(tracks_.tid(track)), 0);
    made.stream = stream_number(made.name.thread).value_or(-1);
    return made;
  }

  // Looks once at each label on each row that has no telling name.
  void find_rows_by_spans(const std::vector<EventColumns>& parts, const Labels& labels) {
    std::map<std::uint32_t, SpanNames> names;
    for (const auto& [track, row] : rows_)
      if (is_plain_host(row.row)) names[track];
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const EventColumns& part : parts) {
      if (names.empty()) return;
      for (const RowSpan& span : part.on_rows)
        if (const auto row = names.find(span.track);
            row != names.end() && seen.emplace(span.track, span.label).second)
          row->second.add(labels.name(span.label));
    }
    for (const auto& [track, of_row] : names) {
      PlacedRow& row = rows_.at(track);
      row.row = find_row_by_spans(of_row);
      if (row.row.use != RowUse::work) continue;
      row.device = kNoId;  // that of the process, as for work with a category
      if (row.stream < 0) row.stream = small_number_in(tracks_.tid(track));
    }
  }

  Device device_of(std::uint32_t track, const PlacedRow& row) const {
    return {tracks_.pid(track), row.name.process};
  }

  void find_levels() {
    std::map<std::pair<Device, RowUse>, std::uint8_t> highest;
    const auto highest_of = [&](std::uint32_t track, const PlacedRow& row) -> std::uint8_t& {
      return highest[{device_of(track, row), row.row.use}];
    };
    for (const auto& [track, row] : rows_) {
      std::uint8_t& level = highest_of(track, row);
      level = std::max(level, row.row.level);
    }
    for (auto& [track, row] : rows_) row.counts = row.row.level == highest_of(track, row);
  }

  // Finds devices about which nothing is known. If no row has work, only the producer's computed
  // results (RowUse::check) are left, and these count as unknown, too.
  void find_unknown(const std::vector<EventColumns>& parts) {
    std::map<Device, bool> understood;
    bool any = false;
    for (const auto& [track, row] : rows_) {
      const bool is_work = row.row.use == RowUse::work || row.row.use == RowUse::communication;
      understood[device_of(track, row)] |= is_work;
      any |= is_work;
    }
    bool any_unknown = false;
    for (auto& [track, row] : rows_) {
      if (row.row.use == RowUse::check && !any) row.row = {RowUse::unknown};
      any_unknown |= row.row.use == RowUse::unknown;
    }
    if (any_unknown) note_devices(parts, understood);
    for (auto& [track, row] : rows_) {
      // XLA uses this process for rows that are no device.
      const bool is_beside = row.name.process.starts_with("/device:CUSTOM:") && any;
      row.is_whole_device = !is_beside && !understood[device_of(track, row)];
    }
  }

  // Marks devices as understood if their work has a category.
  void note_devices(const std::vector<EventColumns>& parts, std::map<Device, bool>& understood) {
    std::set<std::uint32_t> tracks;
    for (const EventColumns& part : parts)
      for (const DeviceSpan& span : part.devices) tracks.insert(span.track);
    for (auto& [device, is_understood] : understood)
      for (const std::uint32_t track : tracks)
        is_understood |=
            tracks_.pid(track) == device.first && name_of(track).process == device.second;
  }

  bool knows_any(const std::vector<EventColumns>& parts) const {
    const auto has_category = [](const RowSpan& span) { return span.has_category; };
    for (const EventColumns& part : parts)
      if (!part.hosts.empty() || !part.operators.empty() || !part.calls.empty() ||
          !part.devices.empty() || !part.marks.empty() ||
          std::any_of(part.on_rows.begin(), part.on_rows.end(), has_category))
        return true;
    return !std::ranges::all_of(rows_,
                                [](const auto& row) { return is_plain_host(row.second.row); });
  }

  const RowNames& names_;
  const Tracks& tracks_;
  std::map<std::uint32_t, PlacedRow> rows_;
  bool is_understood_;
};

// Returns "hcom_allReduce__637" for Ascend's "hcom_allReduce__637_0_1". The number of the group
// stays; the numbers of the single collective are removed, since they would make each name unique.
std::string_view without_index(std::string_view name) {
  const std::size_t group = name.starts_with("hcom_") ? name.find("__") : name.npos;
  if (group == name.npos) return name;
  return name.substr(0, name.find('_', group + 2));
}

// Splits the spans of a row into pieces, so that each instant belongs to the innermost span there.
// Pieces shorter than `percent` of their span are left out.
void append_innermost(std::vector<DeviceSpan> spans, int percent, std::vector<DeviceSpan>& pieces) {
  std::ranges::stable_sort(spans, [](const DeviceSpan& a, const DeviceSpan& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  std::vector<const DeviceSpan*> open;
  std::int64_t at_ns = 0;
  const auto add_until = [&](std::int64_t to_ns) {
    const DeviceSpan& span = *open.back();
    if (to_ns <= at_ns && span.start_ns != span.end_ns) return;
    const std::int64_t from_ns = std::exchange(at_ns, std::max(at_ns, to_ns));
    if (at_ns - from_ns < (span.end_ns - span.start_ns) / 100 * percent) return;
    pieces.push_back(span);
    pieces.back().start_ns = from_ns;
    pieces.back().end_ns = at_ns;
  };
  const auto close_until = [&](std::int64_t ns) {
    for (; !open.empty() && open.back()->end_ns <= ns; open.pop_back())
      add_until(open.back()->end_ns);
  };
  for (const DeviceSpan& span : spans) {
    close_until(span.start_ns);
    if (!open.empty()) add_until(span.start_ns);
    open.push_back(&span);
    at_ns = std::max(at_ns, span.start_ns);
    if (open.size() == 1) at_ns = span.start_ns;
  }
  close_until(std::numeric_limits<std::int64_t>::max());
}

class Placer {
 public:
  Placer(const Rows& rows, RunTexts& texts, const RunRequest& request)
      : rows_(rows), texts_(texts), request_(request) {}

  void place(EventColumns& part) {
    for (const RowSpan& span : part.on_rows) place(span, part);
    part.on_rows = {};
  }

  // Returns the columns that need the spans of all parts.
  EventColumns finish() {
    EventColumns rest;
    for (auto& [track, spans] : nested_) {
      // Torch's old export has the times between two marks on the device, around each operator:
      // between the operators inside, 1 % of the span is what the marks take, and no work.
      const bool is_marked = rows_.at(track).row.maker == RowMaker::autograd;
      append_innermost(std::move(spans), is_marked ? 1 : 0, rest.devices);
    }
    for (const auto& [key, spans] : unknown_) rest.unknown.push_back(spans);
    return rest;
  }

 private:
  void place(const RowSpan& span, EventColumns& part) {
    const PlacedRow& placed = rows_.at(span.track);
    if (placed.row.use == RowUse::unknown || is_unknown_work(span, placed))
      return add_unknown(span, placed);
    if (!placed.counts) return;
    const Known& known = known_of(span, placed);
    const EventClass kind = known.kind;
    if (kind.place == EventPlace::nowhere) return;
    HostSpan host = span;
    host.label = known.label;
    if (kind.place == EventPlace::call)
      return part.calls.push_back({host, span.correlation, kNoId});
    if (kind.place == EventPlace::device) {
      const std::int32_t stream = span.stream >= 0 ? span.stream : placed.stream;
      const std::int32_t number = span.device >= 0 ? span.device : placed.device;
      const DeviceSpan device{host, span.correlation, kNoId, number, stream, span.detail};
      if (placed.row.is_nested)
        nested_[span.track].push_back(device);
      else
        part.devices.push_back(device);
      return;
    }
    place_host(host, span, kind, part);
  }

  void place_host(const HostSpan& host, const RowSpan& span, const EventClass& kind,
                  EventColumns& part) {
    if (kind.is_operator && request_.has_operators())
      part.operators.push_back({host, kNoId, kNoDetail});
    else if (kind.role != Role::other || !rows_.is_understood())
      part.hosts.push_back(host);
    else if (request_.frames)
      part.add_frame(host, SpanColumn::frames, request_);
    if (kind.mark == SpanMark::none) return;
    const bool by_name = kind.mark == SpanMark::device_step;
    const std::int64_t number = by_name ? number_in(texts_.labels.name(host.label)) : span.step;
    part.marks.push_back({host, number, kNoEpoch, kind.mark, false});
  }

  // True for a span with an unknown category that names a stream of a device.
  static bool is_unknown_work(const RowSpan& span, const PlacedRow& placed) {
    return placed.row.use == RowUse::host && span.has_category && span.device >= 0 &&
           span.stream >= 0;
  }

  // The class of a label on rows of a certain use, and the label for it.
  struct Known {
    EventClass kind;
    std::uint32_t label;
  };

  // Each name is classified once for each use of a row.
  const Known& known_of(const RowSpan& span, const PlacedRow& placed) {
    const DeviceRow& row = placed.row;
    const std::tuple key(span.label, row.use, row.maker, row.is_program, span.step != kNoId,
                         span.correlation != kNoId);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    const EventClass kind = kind_of(span, placed);
    return known_.emplace(key, Known{kind, label_of(span.label, kind)}).first->second;
  }

  EventClass kind_of(const RowSpan& span, const PlacedRow& placed) const {
    const std::string_view name = texts_.labels.name(span.label);
    if (!rows_.is_understood()) return {EventPlace::host, Role::other};
    if (placed.row.use == RowUse::host && placed.row.maker == RowMaker::autograd)
      return classify(name, "operator");
    if (placed.row.use == RowUse::host && placed.row.maker != RowMaker::xla)
      return span.correlation != kNoId && is_runtime_call(name)
                 ? EventClass{EventPlace::call, Role::runtime}
                 : texts_.labels.kind(span.label);
    const EventClass kind = classify_on_row(placed.row, name);
    if (placed.row.use != RowUse::host || span.step == kNoId) return kind;
    return {EventPlace::host, Role::other, SpanMark::step};
  }

  std::uint32_t label_of(std::uint32_t label, const EventClass& kind) {
    const std::string_view name = texts_.labels.name(label);
    const std::string_view shown = kind.role == Role::communication ? without_index(name) : name;
    if (texts_.labels.kind(label) == kind && shown == name) return label;
    return texts_.labels.intern(shown, texts_.labels.category(label), kind);
  }

  void add_unknown(const RowSpan& span, const PlacedRow& placed) {
    const bool by_category = placed.row.use != RowUse::unknown;
    const std::uint32_t category = by_category ? span.label : kNoDetail;
    const auto [found, is_new] = unknown_.try_emplace({span.track, category});
    UnknownSpans& spans = found->second;
    if (is_new) {
      spans.track = span.track;
      spans.is_whole_device = placed.is_whole_device;
      std::string text;
      append_detail(text, "process", placed.name.process);
      append_detail(text, "thread", placed.name.thread);
      if (by_category) append_detail(text, "category", texts_.labels.category(span.label));
      spans.detail = texts_.details.intern(text);
    }
    ++spans.count;
    spans.total_ns += span.end_ns - span.start_ns;
  }

  const Rows& rows_;
  RunTexts& texts_;
  const RunRequest& request_;
  std::map<std::uint32_t, std::vector<DeviceSpan>> nested_;  // keyed by row
  std::map<std::pair<std::uint32_t, std::uint32_t>, UnknownSpans> unknown_;
  std::map<std::tuple<std::uint32_t, RowUse, RowMaker, bool, bool, bool>, Known> known_;
};

// Resolves spans whose meaning depends on their row. They become spans of the host, calls, device
// work or steps once the file has been read to its end and its rows have names. All parts belong to
// one file. Afterwards no part has `on_rows`.
//
// If several rows of one device show the same time (streams, ops and modules of XLA; groups and
// planes of Ascend's collectives), only the rows nearest to the device count. If spans lie in
// others, each instant counts for the innermost one.
//
// `is_understood` says that all spans of the file are known to be work.
void place_row_spans(std::vector<EventColumns>& parts, const RowNames& names, RunTexts& texts,
                     const RunRequest& request, bool is_understood) {
  const auto is_placed = [](const EventColumns& part) { return part.on_rows.empty(); };
  if (std::ranges::all_of(parts, is_placed)) return;
  const Rows rows(parts, names, texts, is_understood);
  Placer placer(rows, texts, request);
  for (EventColumns& part : parts) placer.place(part);
  EventColumns rest = placer.finish();
  if (!rest.empty()) parts.push_back(std::move(rest));
  std::erase_if(parts, [](const EventColumns& part) { return part.empty(); });
}

// Gives work without a device the device in the name of its row: 17 for "MTIA 17".
void name_devices_by_rows(std::vector<EventColumns>& parts, const RowNames& names,
                          const Tracks& tracks) {
  std::map<std::uint32_t, std::int32_t> devices;  // keyed by row
  for (EventColumns& part : parts)
    for (DeviceSpan& span : part.devices) {
      if (span.device >= 0) continue;
      const auto [device, is_new] = devices.try_emplace(span.track, -1);
      if (is_new) {
        const RowName row =
            names.row(std::string(tracks.pid(span.track)), std::string(tracks.tid(span.track)));
        if (looks_like_device(row.process))
          device->second =
              static_cast<std::int32_t>(std::min<std::int64_t>(number_in(row.process), 0xffff));
      }
      span.device = device->second;
    }
}

}  // namespace

// Turns the pairs of B and E of one file into rows of its columns.
class EventCollector::PairReader {
 public:
  PairReader(EventCollector& collector, std::size_t file)
      : collector_(collector),
        file_(file),
        pairer_({.pair = [this](const BeginEndPair& pair) { add(pair); },
                 .stray_end = {},
                 .open_begin = {}}) {}

  void take(const ChunkEvents& events) {
    if (!collector_.files_[file_].evidence.rank_marks.empty()) pairer_.match_names();
    payloads_ = events.payloads();
    for (std::uint32_t& payload : payloads_)
      if (payload != kNoPayload) payload = keep_note(events.notes()[payload]);
    pairer_.take(events.begin_end(), payloads_);
    if (columns_.hosts.size() + columns_.on_rows.size() + columns_.marks.size() +
            columns_.spans.size() >
        kRowsOfAPart)
      move_part();
  }

  void finish() {
    pairer_.finish();
    collector_.files_[file_].problems.add(pairer_.problems());
    move_part();
  }

 private:
  // Parts are small, so that a growing part never holds its old and its new memory at the same
  // time.
  static constexpr std::size_t kRowsOfAPart = std::size_t{1} << 14;
  static constexpr std::uint32_t kNotWanted = ~std::uint32_t{0};

  void move_part() {
    columns_.shrink_to_fit();
    if (!columns_.empty()) collector_.files_[file_].parts.push_back(std::move(columns_));
    columns_ = {};
  }

  // Returns the place of the note. Places are reused, because only open begins need their notes.
  std::uint32_t keep_note(const BatchNote& note) {
    if (free_notes_.empty()) {
      notes_.push_back(note);
      return static_cast<std::uint32_t>(notes_.size() - 1);
    }
    const std::uint32_t place = free_notes_.back();
    free_notes_.pop_back();
    notes_[place] = note;
    return place;
  }

  BatchNote take_note(std::uint32_t place) {
    if (place == kNoPayload) return {};
    free_notes_.push_back(place);
    return notes_[place];
  }

  std::uint32_t label_of(const BeginEndPair& pair) {
    const std::uint32_t known = pairs_known_.intern(NumberPair(pair.name, pair.category).bytes());
    if (known == labels_.size()) {
      const std::string_view name = pair.name == kNoText ? kNoName : pairer_.text(pair.name);
      const std::string_view category =
          pair.category == kNoText ? std::string_view{} : pairer_.text(pair.category);
      const std::optional<LabelFilter>& spans = collector_.request_.spans;
      const bool is_wanted = !spans || spans->accepts(name, category);
      labels_.push_back(is_wanted ? collector_.texts_.labels.intern(name, category) : kNotWanted);
    }
    return labels_[known];
  }

  std::uint32_t track_of(std::uint32_t track) {
    while (tracks_.size() <= track) {
      const auto next = static_cast<std::uint32_t>(tracks_.size());
      tracks_.push_back(
          collector_.texts_.tracks.intern(file_, pairer_.pid(next), pairer_.tid(next)));
    }
    return tracks_[track];
  }

  void add(const BeginEndPair& pair) {
    const BatchNote note = take_note(pair.begin_payload);
    if (pair.is_cut) return;
    const HostSpan span{pair.start_ns, pair.end_ns, label_of(pair), track_of(pair.track)};
    if (span.label == kNotWanted) return;
    const EventClass& kind = collector_.texts_.labels.kind(span.label);
    const SpanColumn column = column_of(kind, pair.duration_ns(), collector_.request_);
    switch (column) {
      case SpanColumn::spans:
        return columns_.spans.push_back(span);
      case SpanColumn::devices:
        return columns_.devices.push_back({span, kNoId, kNoId, -1, -1, kNoDetail});
      case SpanColumn::calls:
        return columns_.calls.push_back({span, kNoId, kNoId});
      case SpanColumn::operators:
        columns_.operators.push_back({span, kNoId, kNoDetail});
        break;
      case SpanColumn::hosts:
        if (pair.category == kNoText && is_known_by_row(kind, "", false))
          return columns_.on_rows.push_back({span, kNoId, kNoId, -1, -1, false});
        columns_.hosts.push_back(span);
        break;
      case SpanColumn::frames:
      case SpanColumn::python:
        columns_.add_frame(span, column, collector_.request_);
        break;
      case SpanColumn::none:
        break;
    }
    if (collector_.request_.python && kind.is_module)
      columns_.marks.push_back({span, kNoId, kNoEpoch, SpanMark::module, false});
    if (kind.mark == SpanMark::none) return;
    const std::int64_t step = kind.mark == SpanMark::step ? kind.step : note.batch;
    const bool fits = note.epoch >= 0 && note.epoch <= std::numeric_limits<std::int32_t>::max();
    const std::int32_t epoch = fits ? static_cast<std::int32_t>(note.epoch) : kNoEpoch;
    columns_.marks.push_back({span, step, epoch, kind.mark, false});
  }

  EventCollector& collector_;
  std::size_t file_;
  EventColumns columns_;
  std::vector<BatchNote> notes_;           // notes of the open begins
  std::vector<std::uint32_t> free_notes_;  // free places in notes_
  std::vector<std::uint32_t> payloads_;
  StringTable pairs_known_;  // (name, category) as numbers of the pairer
  std::vector<std::uint32_t> labels_;
  std::vector<std::uint32_t> tracks_;
  BeginEndPairer pairer_;
};

EventCollector::EventCollector(const RunRequest& request)
    : request_(request), files_(request.inputs.size()) {
  if (request.most_kinds > 0) texts_.labels.limit(request.most_kinds);
}

std::unique_ptr<ChunkResult> EventCollector::make_result() {
  return std::make_unique<Chunk>(request_);
}

EventCollector::~EventCollector() = default;

void EventCollector::visit(ChunkResult& result, std::size_t, const Event& event) {
  Chunk& chunk = static_cast<Chunk&>(result);
  EventTiming timing = time_event(event, chunk.problems);
  if (event.phase == 'X' && timing.usable)
    timing.duration_ns = known_duration(event, timing, chunk.problems).value_or(0);
  chunk.events.add(event, timing);
  if (!request_.arrows || !timing.usable) return;
  chunk.displaced_ends.add(event, timing.start_ns);
  if (is_flow_phase(event.phase)) chunk.flow_ends.add(event, timing.start_ns);
}

void EventCollector::take(ChunkResult& result, std::size_t file) {
  Chunk& chunk = static_cast<Chunk&>(result);
  CollectedEvents& collected = files_[file];
  collected.problems.add(chunk.problems);
  for (const FlowEnd& end : chunk.flow_ends.all()) arrows_.add(end);
  displaced_ends_.append(chunk.displaced_ends);
  collected.append(chunk.events.reading());
  collected.row_names.append(chunk.events.row_names());
  for (std::size_t i = 0; i < collected.phases.size(); ++i)
    collected.phases[i] += chunk.events.phases()[i];
  EventColumns part;
  chunk.events.move_to(texts_, file, part);
  part.shrink_to_fit();
  overlong_.cut(part.devices, texts_.labels);
  if (!part.empty()) collected.parts.push_back(std::move(part));
  if (request_.check_names) request_.check_names(texts_.labels.texts());
  if (chunk.events.begin_end().empty()) return;
  if (!pairs_) pairs_ = std::make_unique<PairReader>(*this, file);
  pairs_->take(chunk.events);
}

void EventCollector::end_file(std::size_t file, const FileEnd& end) {
  if (pairs_) {
    pairs_->finish();
    pairs_.reset();
  }
  overlong_.clear();
  arrows_.finish(files_[file].problems);
  displaced_ends_.finish(files_[file].problems);
  const bool is_ours = files_[file].evidence.recorder.opened_ns().has_value();
  place_row_spans(files_[file].parts, files_[file].row_names, texts_, request_, is_ours);
  name_devices_by_rows(files_[file].parts, files_[file].row_names, texts_.tracks);
  link_launches(files_[file].parts);
  if (request_.spans) mark_device_rows(file);
  files_[file].row_names.clear();
  files_[file].end(end);
}

// The rows of the file that is read are the last ones.
void EventCollector::mark_device_rows(std::size_t file) {
  const RowNames& names = files_[file].row_names;
  Tracks& tracks = texts_.tracks;
  for (std::size_t i = tracks.size(); i > 0; --i) {
    const auto track = static_cast<std::uint32_t>(i - 1);
    if (tracks.file(track) != file) return;
    if (names.is_device_row(std::string(tracks.pid(track)), std::string(tracks.tid(track))))
      tracks.mark_device_row(track);
  }
}

void EventCollector::fail_file(std::size_t file, const Error& error) {
  if (!request_.keep_going) stop_at(error, files_.size());
  pairs_.reset();
  overlong_.clear();
  arrows_.finish(files_[file].problems);
  displaced_ends_.finish(files_[file].problems);
  files_[file] = {};
  files_[file].error = error.what();
}

}  // namespace traceloom
