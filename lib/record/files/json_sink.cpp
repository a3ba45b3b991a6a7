#include "record/files/json_sink.h"

#include "base/json_string.h"
#include "event/event_timing.h"
#include "output/json_writer.h"
#include "record/files/event_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace traceloom::record {

std::string recorder_json(const RecorderCounts& counts) {
  constexpr std::size_t kMostOfError = 100;  // room is kept for a short one
  return json_object([&](JsonWriter& json) {
    const auto member_if_any = [&](std::string_view key, std::uint64_t value) {
      if (value > 0) json.member(key, value);
    };
    json.member("events", counts.events);
    json.member("dropped", counts.dropped);
    if (counts.is_ring) json.member("when_full", "ring");
    json.member("lost", counts.lost);
    member_if_any("unnamed", counts.unnamed);
    member_if_any("recovered", counts.recovered);
    member_if_any("damaged", counts.damaged);
    if (!counts.error.empty())
      json.member("error", std::string_view(counts.error).substr(0, kMostOfError));
    json.member_if("clock_error_ns", counts.clock_error_ns);
  });
}

namespace {

using namespace std::string_view_literals;

// Room for all numbers of an event, at their longest.
constexpr std::size_t kNumbers = 128;
// Room for the member "cut_id", at its longest.
constexpr std::size_t kCutIdBytes = 40;

char* put(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

// Writes three decimals, such as ".123".
char* put_decimals(char* out, std::uint32_t nanoseconds) {
  *out = '.';
  out[1] = static_cast<char>('0' + nanoseconds / 100);
  out[2] = static_cast<char>('0' + nanoseconds / 10 % 10);
  out[3] = static_cast<char>('0' + nanoseconds % 10);
  return out + 4;
}

char* put_integer(char* out, std::int64_t number) {
  return std::to_chars(out, out + 24, number).ptr;
}

// Writes the shortest text that reads back the same, but 100000 rather than 1e+05.
char* put_number(char* out, double number) {
  constexpr double kWhole = 9007199254740992;  // 2^53
  if (std::abs(number) < kWhole && std::trunc(number) == number)
    return put_integer(out, static_cast<std::int64_t>(number));
  return std::to_chars(out, out + 32, number).ptr;
}

}  // namespace

void JsonSink::forget_file(std::int64_t rank) {
  rank_ = rank;
  tail_tid_ = -1;
  used_ = 0;
  pieces_.clear();
  pending_events_ = 0;
  is_first_ = true;
  is_ended_ = false;
  last_writes_.clear();
  final_path_.clear();
  file_.reset();
}

void JsonSink::begin_cycle(const CycleInfo& cycle) {
  forget_file(cycle.rank);
  file_ = std::make_unique<TraceFile>(cycle.path, options_.gzip_level, options_.next_path,
                                      options_.naming);
}

void JsonSink::resume(const CycleInfo& cycle, const FileState& state) {
  forget_file(cycle.rank);
  file_ = std::make_unique<TraceFile>(cycle.path, options_.gzip_level, state);
  is_first_ = state.text_bytes == 0;
}

char* JsonSink::room(std::size_t bytes) {
  if (buffer_.size() < used_ + bytes)
    buffer_.resize(std::max(used_ + bytes, kFlushBytes + kFlushBytes / 8));
  return buffer_.data() + used_;
}

template <typename Event>
const std::string& JsonSink::head(const Event& event) {
  if (event.label >= heads_.size()) heads_.resize(event.label + 1);
  std::string& head = heads_[event.label];
  if (head.empty()) {
    head = ",\n{\"name\":";
    append_json_string(head, event.name);
    head += ",\"cat\":";
    append_json_string(head, event.categories);
  }
  return head;
}

// Returns the places of the keys to write: viewers disagree about a key that stands twice in an
// object.
const std::vector<std::size_t>& JsonSink::written_keys(const CounterEvent& event) {
  if (event.label >= written_keys_.size()) written_keys_.resize(event.label + 1);
  std::vector<std::size_t>& written = written_keys_[event.label];
  if (!written.empty()) return written;
  std::vector<std::string> texts;
  while (event.keys[texts.size()] != nullptr)
    texts.push_back(json_string(event.keys[texts.size()]));
  for (auto text = texts.begin(); text != texts.end(); ++text)
    if (std::find(text + 1, texts.end(), *text) == texts.end())
      written.push_back(static_cast<std::size_t>(text - texts.begin()));
  return written;
}

void JsonSink::update_tail(std::int64_t tid, std::uint32_t epoch, std::uint32_t batch) {
  const std::uint64_t position = std::uint64_t{epoch} << 32 | batch;
  if (tail_tid_ == tid && tail_position_ == position) return;
  tail_tid_ = tid;
  tail_position_ = position;
  tail_ = fmt::format(R"(,"pid":{},"tid":{},"args":{{"epoch":{},"batch":{}}})", rank_, tid, epoch,
                      batch);
}

char* JsonSink::write_time(char* out, std::int64_t ns) {
  constexpr std::int64_t kHighNs = 100'000'000'000;  // 10^8 us
  if (ns < kHighNs) return write_microseconds(out, ns);
  const std::int64_t high = ns / kHighNs;
  if (high != high_) {
    high_ = high;
    high_text_ = std::to_string(high);
  }
  const auto low = static_cast<std::uint64_t>(ns % kHighNs);
  out = put(out, high_text_);
  out = write_eight_digits(out, static_cast<std::uint32_t>(low / 1000));
  return put_decimals(out, static_cast<std::uint32_t>(low % 1000));
}

template <typename Event>
char* JsonSink::begin_event(const Event& event, std::string_view phase, std::int64_t ns,
                            std::size_t more_bytes) {
  const std::string& text = head(event);
  char* out = room(text.size() + kNumbers + more_bytes);
  out = put(out, text);
  if (is_first_) buffer_[used_] = '[';  // in place of the comma
  out = put(out, phase);
  return write_time(out, ns);
}

void JsonSink::end_event(char* end, std::uint64_t events) {
  used_ = static_cast<std::size_t>(end - buffer_.data());
  is_first_ = false;
  pending_events_ += events;
  if (used_ - (pieces_.empty() ? 0 : pieces_.back().bytes) >= kPieceBytes)
    pieces_.push_back({used_, pending_events_});
}

void JsonSink::write_duration(const DurationEvent& event, std::uint64_t count) {
  update_tail(event.tid, event.epoch, event.batch);
  constexpr std::array kPhases{R"(,"ph":"X","ts":)"sv, R"(,"ph":"B","ts":)"sv,
                               R"(,"ph":"E","ts":)"sv};  // as traceloom_duration_part has them
  const std::string_view args_json = event.args_json;
  const bool is_end = event.part == TRACELOOM_END;
  char* out = begin_event(event, kPhases.at(static_cast<std::size_t>(event.part)),
                          event.begin_ns + (is_end ? event.duration_ns : 0),
                          tail_.size() + args_json.size() + kCutIdBytes);
  if (event.part == TRACELOOM_WHOLE) {
    out = put(out, R"(,"dur":)");
    out = put_integer(out, event.duration_ns / 1000);
    out = put_decimals(out, static_cast<std::uint32_t>(event.duration_ns % 1000));
  }
  out = put_tail(out, args_json);
  if (event.cut_id != 0) {
    out = put(out, R"(,"cut_id":")");
    out = std::to_chars(out, out + kCutIdBytes, event.cut_id).ptr;
    *out++ = '"';
  }
  *out++ = '}';
  end_event(out, count);
}

// Writes the arguments of the event after those of all events.
char* JsonSink::put_tail(char* out, std::string_view args_json) const {
  if (args_json.empty()) return put(out, tail_);
  out = put(out, std::string_view(tail_).substr(0, tail_.size() - 1));
  *out++ = ',';
  return put(out, args_json.substr(1));
}

void JsonSink::instant(const InstantEvent& event) {
  constexpr std::array kPhases{R"(,"ph":"i","ts":)"sv, R"(,"ph":"b","ts":)"sv,
                               R"(,"ph":"e","ts":)"sv};  // as traceloom_instant_part has them
  update_tail(event.tid, event.epoch, event.batch);
  const std::string_view args_json = event.args_json;
  char* out = begin_event(event, kPhases.at(static_cast<std::size_t>(event.part)), event.at_ns,
                          tail_.size() + args_json.size() + kCutIdBytes);
  out = put_tail(out, args_json);
  if (event.part == TRACELOOM_MOMENT) {
    out = put(out, R"(,"s":"p"})");
  } else {
    out = put(out, R"(,"id":"0x)");
    out = std::to_chars(out, out + kCutIdBytes, event.id, 16).ptr;
    out = put(out, R"("})");
  }
  end_event(out);
}

void JsonSink::counter(const CounterEvent& event) {
  std::string args;
  std::array<char, 32> text{};
  for (const std::size_t i : written_keys(event)) {
    if (i >= event.count || !std::isfinite(event.values[i])) continue;
    args += args.empty() ? "{" : ",";
    append_json_string(args, event.keys[i]);
    args += ':';
    args.append(text.data(), put_number(text.data(), event.values[i]));
  }
  // A counter without any value is left out: viewers warn of it.
  if (args.empty()) {
    left_out_ = {left_out_.events + 1, event.name};
    return;
  }
  char* out = begin_event(event, R"(,"ph":"C","ts":)", event.at_ns, args.size());
  out = put(out, R"(,"pid":)");
  out = put_integer(out, rank_);
  out = put(out, R"(,"tid":)");
  out = put_integer(out, event.tid);
  out = put(out, R"(,"args":)");
  out = put(out, args);
  out = put(out, "}}");
  end_event(out);
}

void JsonSink::metadata(const MetadataEvent& event) {
  std::string time;
  append_microseconds(time, event.at_ns);
  append(fmt::format(R"({{"name":{},"cat":"","ph":"M","ts":{},"pid":{},"tid":{},"args":{}}})",
                     json_string(event.name), time, rank_, event.tid, event.args_json),
         0);
}

void JsonSink::append(std::string_view json, std::uint64_t events) {
  char* out = room(json.size() + 2);
  out = put(out, is_first_ ? "[\n"sv : ",\n"sv);
  out = put(out, json);
  end_event(out, events);
}

void JsonSink::external_trace(const std::string& path) {
  copy_external_trace(path, rank_, [this](std::string_view event) {
    append(event, 0);  // it is no event of the program
    if (wants_flush()) flush();
  });
}

void JsonSink::flush() {
  if (used_ == 0 || file_ == nullptr) return;
  const std::uint64_t before = file_->state().bytes;
  try {
    write({buffer_.data(), used_}, pending_events_);
    pending_events_ = 0;
  } catch (...) {
    if (!file_->is_refused()) write_pieces();
    is_first_ = file_->state().text_bytes == 0;
    bytes_written_ += file_->state().bytes - before;
    used_ = 0;
    pieces_.clear();
    if (file_->is_refused()) file_.reset();
    throw;
  }
  bytes_written_ += file_->state().bytes - before;
  used_ = 0;
  pieces_.clear();
}

void JsonSink::write(std::string_view text, std::uint64_t events) {
  const FileState before = file_->state();
  file_->write(text);
  last_writes_.push_back({before, events});
  const std::uint64_t now = file_->state().bytes;
  while (last_writes_.size() > 1 && now - last_writes_[1].before.bytes >= kEndBytes)
    last_writes_.pop_front();
}

// Writes as much of the buffer as fits, if the disk has no room for all of it.
void JsonSink::write_pieces() {
  PieceEnd written;
  try {
    for (const PieceEnd& piece : pieces_) {
      write({buffer_.data() + written.bytes, piece.bytes - written.bytes},
            piece.events - written.events);
      written = piece;
    }
  } catch (...) {  // the caller knows what was wrong
  }
  pending_events_ -= written.events;
}

void JsonSink::write_end(const std::vector<MetadataEvent>& last) {
  for (const MetadataEvent& event : last) metadata(event);
  std::string text(buffer_.data(), used_);
  text += is_first_ ? "[\n]\n"sv : "\n]\n"sv;
  used_ = 0;
  pieces_.clear();
  const std::uint64_t before = file_->state().bytes;
  is_first_ = file_->state().text_bytes == 0;  // unless it is written
  file_->write_last(text);
  bytes_written_ += file_->state().bytes - before;
  pending_events_ = 0;
  is_ended_ = true;
}

std::optional<std::uint64_t> JsonSink::take_back() {
  if (last_writes_.empty() || last_writes_.back().before.text_bytes == 0) return std::nullopt;
  const LastWrite last = last_writes_.back();
  file_->cut_back(last.before);
  last_writes_.pop_back();
  return last.events;
}

void JsonSink::end_cycle(const CycleInfo& cycle) {
  if (file_ == nullptr) return;
  try {
    if (!is_ended_) write_end({});
  } catch (...) {
    // A trace without its closing bracket is still readable, so give it its final name.
    final_path_ = std::exchange(file_, nullptr)->finish(cycle.path, options_.overwrite);
    throw;
  }
  final_path_ = std::exchange(file_, nullptr)->finish(cycle.path, options_.overwrite);
}

}  // namespace traceloom::record
