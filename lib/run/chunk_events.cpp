#include "run/chunk_events.h"

#include "base/arithmetic.h"
#include "base/ascii.h"
#include "base/json_string.h"
#include "base/json_walk.h"
#include "select/selection.h"

#include <cstring>
#include <limits>
#include <optional>

namespace traceloom {
namespace {

// The name of a call that is known only by its arrow.
constexpr std::string_view kLaunchArrow = "HostToDevice";
// The category of torch's arrows from calls to device work.
constexpr std::string_view kCallArrow = "ac2g";

// Compares a constant number of bytes, which takes no call: all operators are asked.
bool is_external_key(std::string_view key) {
  constexpr std::string_view kRest = "xternal id";
  return key.size() == 1 + kRest.size() && (key[0] == 'E' || key[0] == 'e') &&
         std::memcmp(key.data() + 1, kRest.data(), kRest.size()) == 0;
}

std::int64_t integer_of(const JsonWalk& member) {
  return json_integer(member.value()).value_or(kNoId);
}

// True for spans of Composer that mark steps.
bool may_have_note(std::string_view name) {
  return name.starts_with("\"event/") || name.starts_with("\"dataloader/");
}

std::int32_t small_number(std::int64_t number) {
  return number >= 0 && number <= std::numeric_limits<std::int32_t>::max()
             ? static_cast<std::int32_t>(number)
             : static_cast<std::int32_t>(kNoId);
}

// Spreads texts over the recent ones by some of their bytes: the text of a name and its category
// differs from others in the middle or at its end, whichever stands first.
std::size_t place_of(std::string_view text) {
  std::uint64_t middle = 0;
  std::uint64_t end = 0;
  if (text.size() >= 16) {
    std::memcpy(&middle, text.data() + text.size() / 2 - 4, sizeof middle);
    std::memcpy(&end, text.data() + text.size() - 9, sizeof end);
  }
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  return (((middle * kOdd) ^ end ^ text.size()) * kOdd) >> (64 - kRecentBits);
}

template <typename To, typename From>
void append(To& to, const From& from, const Renumbering& numbers) {
  if constexpr (requires { to.reserve(0); }) to.reserve(to.size() + from.size());
  for (auto row : from) {
    numbers(row);
    to.push_back(row);
  }
}

// Reads the note from args; both numbers are kNoId if args hold none.
BatchNote read_batch_note(std::string_view args) {
  BatchNote note;
  for (JsonWalk walk(args); walk.next();) {
    if (walk.key() == "epoch") note.epoch = integer_of(walk);
    if (walk.key() == "batch") note.batch = integer_of(walk);
  }
  return note;
}

}  // namespace

void ChunkEvents::add(const Event& event, const EventTiming& timing) {
  ++phases_[static_cast<unsigned char>(event.phase) & 0x7f];
  reading_.add(event, timing);
  if (event.phase == 'M') return row_names_.add(event);
  if (!timing.usable) return;
  if (event.phase == 'X')
    add_span(event, timing);
  else if (event.phase == 'B' || event.phase == 'E')
    add_begin_end(event, timing.start_ns);
  else if (request_.spans)
    return;
  else if (event.phase == 's' || event.phase == 'f')
    add_arrow(event, timing.start_ns);
  else if (request_.samples && event.phase == 'C')
    add_counter(event, timing.start_ns);
  else if (request_.samples && (event.phase == 'i' || event.phase == 'I'))
    add_memory(event, timing.start_ns);
}

std::uint32_t ChunkEvents::label_of(const Event& event) {
  const std::string_view text = label_text(event, scratch_);
  std::uint32_t& label = recent_labels_[place_of(text)];
  if (label < labels_.size() && same_text(label_texts_[label], text)) return label;
  label = label_texts_.intern(text);
  if (label == labels_.size()) {
    const std::string_view name = string_or_nothing(event.text(Key::name));
    Label made{name.empty() ? std::string(kNoName) : decoded(name),
               decoded(string_or_nothing(event.text(Key::cat))),
               {}};
    made.kind = classify(made.name, made.category);
    made.with_category_by_row = is_known_by_row(made.kind, made.category, true);
    made.without_category_by_row = is_known_by_row(made.kind, made.category, false);
    made.wanted_as_span = request_.spans && request_.spans->accepts(made.name, made.category);
    labels_.push_back(std::move(made));
  }
  return label;
}

void ChunkEvents::add_span(const Event& event, const EventTiming& timing) {
  if (is_unclosed(event, timing)) return;
  const std::uint32_t label = label_of(event);
  const EventClass& kind = labels_[label].kind;
  const SpanColumn column = column_of(kind, timing.duration_ns, request_);
  const HostSpan span{timing.start_ns, saturating_add(timing.start_ns, timing.duration_ns), label,
                      track()};
  if (column == SpanColumn::spans) {
    if (labels_[label].wanted_as_span) spans_.push_back(span);
    return;
  }
  if (request_.python && kind.is_module)
    marks_.push_back({span, kNoId, kNoEpoch, SpanMark::module, false});
  if (column == SpanColumn::none && kind.mark == SpanMark::none) return;
  if (event.has(Key::cat) ? labels_[label].with_category_by_row
                          : labels_[label].without_category_by_row)
    return add_on_row(event, span);
  if (column == SpanColumn::devices) return add_device(event, span);
  if (column == SpanColumn::calls) return add_call(event, span);
  if (column == SpanColumn::operators) add_operator(event, span);
  if (column == SpanColumn::hosts) hosts_.push_back(span);
  if (column == SpanColumn::frames || column == SpanColumn::python)
    columns_.add_frame(span, column, request_);
  if (kind.mark != SpanMark::none) add_mark(event, span, kind);
}

std::uint32_t ChunkEvents::detail_of(std::string_view args, bool (*is_wanted)(std::string_view)) {
  scratch_.clear();
  for (JsonWalk walk(args); walk.next();)
    if (is_wanted(walk.key())) append_detail(scratch_, walk.key(), walk.value());
  return detail_texts_.intern(scratch_);
}

void ChunkEvents::add_device(const Event& event, const HostSpan& span) {
  DeviceSpan device{span, kNoId, kNoId, -1, -1, kNoDetail};
  // The name of a collective is needed to find out which rank waited for which.
  const bool meets = labels_[span.label].kind.role == Role::communication;
  if (request_.details || meets) device.detail = detail_of(event.text(Key::args), is_detail);
  int missing = 4;
  for (JsonWalk args(event.text(Key::args)); missing > 0 && args.next();) {
    const std::string_view key = args.key();
    if (key == "device")
      device.device = small_number(integer_of(args));
    else if (key == "stream")
      device.stream = small_number(integer_of(args));
    else if (key == "correlation")
      device.correlation = integer_of(args);
    else if (is_external_key(key))
      device.external = integer_of(args);
    else
      continue;
    --missing;
  }
  if (device.correlation != kNoId) note_correlation(span.start_ns);
  columns_.devices.push_back(device);
}

void ChunkEvents::add_operator(const Event& event, const HostSpan& span) {
  OperatorSpan found{span, kNoId, kNoDetail};
  const std::string_view args = event.text(Key::args);
  if (request_.arguments) found.arguments = detail_of(args, is_argument);
  const bool wants_shapes = request_.shapes && !request_.arguments;
  for (JsonWalk walk(args); walk.next();) {
    if (wants_shapes && found.arguments == kNoDetail && walk.key() == kShapes)
      found.arguments = shapes_of(walk.value());
    if (!is_external_key(walk.key())) continue;
    found.external = integer_of(walk);
    if (wants_shapes && found.arguments == kNoDetail && walk.next(kShapes))
      found.arguments = shapes_of(walk.value());
    break;
  }
  columns_.operators.push_back(found);
}

// Operators have few shapes, so that each is brought into its form once.
std::uint32_t ChunkEvents::shapes_of(std::string_view written) {
  const std::uint32_t shapes = shape_texts_.intern(written);
  if (shapes == details_of_shapes_.size()) {
    scratch_.clear();
    append_detail(scratch_, kShapes, written);
    details_of_shapes_.push_back(detail_texts_.intern(scratch_));
  }
  return details_of_shapes_[shapes];
}

void ChunkEvents::add_call(const Event& event, const HostSpan& span) {
  CallSpan call{span, kNoId, kNoId};
  int missing = 2;
  for (JsonWalk args(event.text(Key::args)); missing > 0 && args.next();) {
    if (args.key() == "correlation")
      call.correlation = integer_of(args);
    else if (is_external_key(args.key()))
      call.external = integer_of(args);
    else
      continue;
    --missing;
  }
  if (call.correlation != kNoId) note_correlation(span.start_ns);
  columns_.calls.push_back(call);
}

void ChunkEvents::note_correlation(std::int64_t start_ns) {
  if (with_correlation_.size() <= track())
    with_correlation_.resize(track() + std::size_t{1}, std::numeric_limits<std::int64_t>::min());
  with_correlation_[track()] = start_ns;
}

void ChunkEvents::add_arrow(const Event& event, std::int64_t start_ns) {
  const std::string_view category = unquoted(event.text(Key::cat));
  if (category == kLaunchArrow && event.phase == 's') return add_launch(event, start_ns);
  if (category != kCallArrow) return;
  // In nearly all files the arrow stands behind a span that has a correlation.
  if (track() < with_correlation_.size() && with_correlation_[track()] == start_ns) return;
  if (const std::optional<std::int64_t> id = json_integer(event.text(Key::id)))
    columns_.arrows.push_back({start_ns, *id, track(), event.phase == 'f'});
}

void ChunkEvents::add_on_row(const Event& event, const HostSpan& span) {
  RowSpan found{span, kNoId, kNoId, -1, -1, event.has(Key::cat)};
  bool has_data_type = false;
  for (JsonWalk args(event.text(Key::args)); args.next();) {
    const std::string_view key = args.key();
    if (key == "correlation_id" || key == "connection_id" || key == "correlationId" ||
        key == "correlation")
      found.correlation = integer_of(args);
    else if (key == "step_num")
      found.step = integer_of(args);
    else if (key == "device")
      found.device = small_number(integer_of(args));
    else if (key == "stream")
      found.stream = small_number(integer_of(args));
    else if (key == "data_type")
      has_data_type = true;
  }
  if (has_data_type) found.detail = detail_of(event.text(Key::args), is_transfer_detail);
  columns_.on_rows.push_back(found);
}

// Adds a launch for an arrow of Ascend, which begins where the host hands work to the device. The
// arrow's name holds its first id, before a merge may have changed the id. The upper half of that
// id is the connection of the work.
void ChunkEvents::add_launch(const Event& event, std::int64_t start_ns) {
  const std::string_view name = unquoted(event.text(Key::name));
  if (!name.starts_with(kLaunchArrow)) return;
  const std::optional<std::int64_t> id = json_integer(name.substr(kLaunchArrow.size()));
  if (!id || *id < 0) return;
  const std::uint32_t label = label_texts_.intern(kLaunchArrow);
  if (label == labels_.size()) {
    Label made{std::string(kLaunchArrow), "", {EventPlace::call, Role::runtime}};
    labels_.push_back(std::move(made));
  }
  columns_.calls.push_back({{start_ns, start_ns, label, track()}, *id >> 32, kNoId});
}

void ChunkEvents::add_mark(const Event& event, const HostSpan& span, const EventClass& kind) {
  MarkedSpan marked{span, kind.step, kNoEpoch, kind.mark, false};
  if (kind.mark == SpanMark::operation) {
    marked.arguments = detail_of(event.text(Key::args), is_operation_detail);
    marked.number = json_integer(find_member(event.text(Key::args), "step")).value_or(kNoId);
  } else if (is_of_collective(kind.mark)) {
    // The tensors of a collective give the bytes that it moves, unless the program says them.
    marked.arguments = detail_of(event.text(Key::args), [](std::string_view key) {
      return is_argument(key) || key == "bytes";
    });
    for (JsonWalk args(event.text(Key::args)); args.next();)
      if (is_external_key(args.key())) {
        marked.number = integer_of(args);
        break;
      }
  } else if (kind.mark != SpanMark::step && may_have_note(event.text(Key::name))) {
    const BatchNote note = read_batch_note(event.text(Key::args));
    marked.number = note.batch;
    marked.epoch = small_number(note.epoch);
    marked.is_merged = true;
  }
  marks_.push_back(marked);
}

void ChunkEvents::add_begin_end(const Event& event, std::int64_t start_ns) {
  begin_end_.add(event, start_ns);
  std::uint32_t payload = kNoPayload;
  if (event.phase == 'B' && may_have_note(event.text(Key::name))) {
    payload = static_cast<std::uint32_t>(notes_.size());
    notes_.push_back(read_batch_note(event.text(Key::args)));
  }
  payloads_.push_back(payload);
}

void ChunkEvents::add_memory(const Event& event, std::int64_t start_ns) {
  if (unquoted(event.text(Key::name)) != kMemoryEvent) return;
  std::optional<MemorySample> sample = read_memory_sample(event.text(Key::args));
  if (!sample) return;
  sample->start_ns = start_ns;
  sample->track = track();
  columns_.memory.push_back(*sample);
}

void ChunkEvents::add_counter(const Event& event, std::int64_t start_ns) {
  CounterSample sample{start_ns, label_of(event), track(), 0, 0};
  for (JsonWalk args(event.text(Key::args)); args.next();) {
    const std::optional<double> value = read_counter_value(args.value());
    if (!value) continue;
    // Counters with one name and several ids are different counters.
    scratch_ = event.has(Key::id) ? "[" + canonical_id(event.text(Key::id)) + "] " : std::string();
    scratch_ += decode_json_string(args.key());
    sample.key = detail_texts_.intern(scratch_);
    sample.value = *value;
    columns_.counters.push_back(sample);
  }
}

void ChunkEvents::move_to(RunTexts& texts, std::size_t file, EventColumns& columns) {
  Renumbering numbers;
  for (Label& label : labels_) {
    if (label.in_run == kUnknown && (!request_.spans || label.wanted_as_span))
      label.in_run = texts.labels.intern(label.name, label.category, label.kind);
    numbers.labels.push_back(label.in_run);
  }
  reading_.threads.for_each_row([&](std::string_view pid, std::string_view tid) {
    numbers.tracks.push_back(texts.tracks.intern(file, canonical_id(pid), canonical_id(tid)));
  });
  for (std::size_t i = details_in_run_.size(); i < detail_texts_.size(); ++i)
    details_in_run_.push_back(texts.details.intern(detail_texts_[static_cast<std::uint32_t>(i)]));
  numbers.details = details_in_run_;
  append(columns.spans, spans_, numbers);
  append(columns.hosts, hosts_, numbers);
  append(columns.marks, marks_, numbers);
  std::apply([&](auto... column) { (append(columns.*column, columns_.*column, numbers), ...); },
             kEventColumns);
}

void ChunkEvents::reset() {
  columns_.clear();
  spans_.clear();
  hosts_.clear();
  marks_.clear();
  begin_end_.clear();
  payloads_.clear();
  notes_.clear();
  with_correlation_.clear();
  reading_.clear();
  row_names_.clear();
  phases_ = {};
  // Texts that few events share would be kept by each of the chunks that are read at a time.
  if (labels_.size() > kMostKept) {
    label_texts_ = {};
    labels_ = {};
  }
  if (detail_texts_.size() > kMostKept) {
    detail_texts_ = {};
    details_in_run_ = {};
    shape_texts_ = {};
    details_of_shapes_ = {};
  }
}

}  // namespace traceloom
