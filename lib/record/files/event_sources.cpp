#include "record/files/event_sources.h"

#include "base/arithmetic.h"
#include "base/ascii.h"
#include "base/json_string.h"
#include "event/event.h"
#include "event/event_timing.h"
#include "input/byte_source.h"
#include "scan/event_repair.h"
#include "scan/event_scanner.h"
#include "scan/list_reader.h"
#include "scan/top_level.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <unistd.h>

namespace traceloom::record {

const EventLabel* EventFeeder::label(std::uint32_t id) {
  if (id < labels_.size() && labels_[id] != nullptr) return labels_[id];
  const EventLabel* const found = find_label_(id);
  if (found == nullptr) return nullptr;
  if (id >= labels_.size()) labels_.resize(id + 1);
  return labels_[id] = found;
}

traceloom_duration_part EventFeeder::part_of(const detail::Slot& slot, const EventThread& thread) {
  if (slot.kind == detail::Kind::begin) {
    open_[identity(slot)] = &thread;
    return TRACELOOM_BEGIN;
  }
  return open_.erase(identity(slot)) > 0 ? TRACELOOM_END : TRACELOOM_WHOLE;
}

const double* EventFeeder::values_of(const detail::Slot& slot) {
  constexpr std::size_t kFirstValues = 2;
  values_.resize(slot.value_count);
  const std::size_t first = std::min<std::size_t>(slot.value_count, kFirstValues);
  std::memcpy(values_.data(), &slot.value, first * sizeof(double));
  std::memcpy(values_.data() + first, &slot + 1, (slot.value_count - first) * sizeof(double));
  return values_.data();
}

namespace {

template <typename Number>
Number number_in(const detail::Arg& arg) {
  Number number;
  std::memcpy(&number, arg.bytes, sizeof number);
  return number;
}

// Leaves out a last character that had no room.
std::string_view whole_characters(std::string_view text) {
  std::size_t last = text.size();
  while (last > 0 && (text[--last] & 0xC0) == 0x80) continue;
  const auto first = text.empty() ? 0 : static_cast<unsigned char>(text[last]);
  const std::size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  return last + length > text.size() ? text.substr(0, last) : text;
}

// Returns the value as JSON; "" for what is no value.
std::string json_of(const detail::Arg& arg) {
  if (arg.kind == TRACELOOM_INTEGER) return std::to_string(number_in<std::int64_t>(arg));
  if (arg.kind == TRACELOOM_TEXT && arg.size <= sizeof arg.bytes)
    return json_string(whole_characters({arg.bytes, arg.size}));
  const auto number = number_in<double>(arg);
  const bool is_number = arg.kind == TRACELOOM_NUMBER && std::isfinite(number);
  return is_number ? fmt::format("{}", number) : "";
}

}  // namespace

const char* EventFeeder::args_of(const detail::Slot& slot, const EventLabel& label) {
  args_.clear();
  const std::size_t count = std::min<std::size_t>(slot.value_count, label.key_count);
  const detail::Slot* const first = &slot + 1 + (slot.more_slots - slot.value_count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string value = json_of(std::bit_cast<detail::Arg>(first[i]));
    if (value.empty() || *label.keys[i] == '\0') continue;
    args_ += args_.empty() ? '{' : ',';
    append_json_string(args_, label.keys[i]);
    args_ += ':' + value;
  }
  if (!args_.empty()) args_ += '}';
  return args_.c_str();
}

std::optional<std::int64_t> EventFeeder::measured_begin(const detail::Slot& slot) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 61;
  const auto begin = std::bit_cast<detail::Arg>((&slot)[1]);
  const auto monotonic_ns = number_in<std::int64_t>(begin);
  const std::int64_t at_ns = line_.start().realtime_ns - line_.start().monotonic_ns;
  if (begin.kind != TRACELOOM_INTEGER || slot.value > kMost || monotonic_ns > kMost ||
      monotonic_ns < -at_ns)
    return std::nullopt;
  return at_ns + monotonic_ns;
}

namespace {

using namespace std::string_view_literals;

constexpr std::int64_t kPidStep = std::int64_t{1} << 21;

// Visits the events of one file in their order, in this thread.
class SerialVisitor : public FileVisitor {
 public:
  SerialVisitor(Args args, std::function<void(const Event&)> use)
      : args_(args), use_(std::move(use)) {}
  Args wanted_args() const override { return args_; }
  std::unique_ptr<ChunkResult> make_result() override { return std::make_unique<ChunkResult>(); }
  void visit(ChunkResult& /*result*/, std::size_t /*file*/, const Event& event) override {
    use_(event);
  }
  void take(ChunkResult& /*result*/, std::size_t /*file*/) override {}
  void end_file(std::size_t /*file*/, const FileEnd& /*end*/) override {}

 private:
  Args args_;
  std::function<void(const Event&)> use_;
};

struct TraceEnd {
  std::int64_t base_ns = 0;  // the base time that the file names, if it does
  std::string bad_base;      // the text of a base time that is no number
  ProblemCounts problems;
};

// Fills in the base time.
void read_base(std::string_view text, TraceEnd& end) {
  const auto base = whole_number<std::int64_t>(unquoted(text));
  end.base_ns = base.value_or(0);
  if (!base) end.bad_base = text;
}

TraceEnd read_trace(const std::string& path, Args args,
                    const std::function<void(const Event&)>& use) {
  SerialVisitor visitor(args, use);
  TopLevelParser parser(path);
  ListReader list(visitor, 0, path, parser);
  const std::unique_ptr<ByteSource> source = open_input(path);
  ChunkReader reader(*source);
  Chunk chunk;
  bool in_list = false;
  std::uint64_t text_bytes = 0;
  do {
    reader.next(chunk);
    text_bytes = chunk.offset + chunk.size;
    std::size_t skip = 0;
    if (!in_list) {
      skip = parser.feed(chunk.text());
      in_list = parser.state() == TopLevelParser::State::in_list;
      chunk.at_event_start = false;
    }
    if (in_list) list.add(chunk, skip, {});
  } while (!chunk.last);
  source->check_unchanged();
  if (!in_list) parser.finish(text_bytes, false);  // throws, because there is no list
  TraceEnd end;
  end.problems = list.finish(text_bytes, source->problems()).problems;
  if (const std::string_view base = parser.value("baseTimeNanoseconds"); !base.empty())
    read_base(base, end);
  return end;
}

// Throws ImperfectTrace if there are problems: each kind in a few words, with the place of the
// first one.
void tell_problems(const std::string& path, const ProblemCounts& problems,
                   const std::string& bad_base) {
  std::vector<std::string> words;
  std::optional<std::uint64_t> first_offset;
  for (const Problem kind : problems.kinds()) {
    keep_least(first_offset, std::optional(problems.first_offset(kind)));
    const std::string times =
        problems.count(kind) > 1 ? fmt::format("{} times: ", problems.count(kind)) : "";
    words.push_back(times + std::string(describe(kind).sentence));
  }
  if (!bad_base.empty())
    words.push_back(fmt::format(
        "baseTimeNanoseconds is {:.40}, no number of nanoseconds; its times stay as they are",
        bad_base));
  if (words.empty()) return;
  const std::string all = fmt::format("{}", fmt::join(words, "; "));
  throw first_offset ? ImperfectTrace(path, *first_offset, all) : ImperfectTrace(path, all);
}

// The results of the first reading.
struct Survey {
  std::string process;  // canonical pid of the process that becomes the rank
  std::map<std::string, std::int64_t> pids;
  std::int64_t base_ns = 0;
};

Survey survey_trace(const std::string& path, std::int64_t rank) {
  Survey survey;
  const std::string own = std::to_string(getpid());
  std::vector<std::string> order;  // of appearance
  const TraceEnd end = read_trace(path, Args::skip, [&](const Event& event) {
    const std::string pid = canonical_id(event.text(Key::pid));
    if (pid.empty()) return;
    if (survey.pids.emplace(pid, rank).second) order.push_back(pid);
    if (survey.process.empty() && event.phase != 'M') survey.process = pid;
  });
  survey.base_ns = end.base_ns;
  if (survey.pids.count(own) > 0) survey.process = own;
  std::int64_t others = 0;
  for (const std::string& pid : order)
    if (pid != survey.process) survey.pids[pid] = rank + ++others * kPidStep;
  return survey;
}

bool names_process(const Event& event) {
  return event.phase == 'M' && unquoted(event.text(Key::name)).starts_with("process_");
}

// True for what our file says of itself: a second rank would make it a merge of two, and a second
// sync would move it.
bool speaks_for_file(const Event& event) {
  constexpr std::array kNames{"global_rank"sv,
                              "clock_sync_timestamp_us"sv,
                              "clock_sync_error_bound"sv,
                              "clock_sync_rounds"sv,
                              "clock_pairs"sv,
                              "clock_source"sv,
                              "host"sv,
                              "ntp"sv,
                              "recorder"sv};
  const std::string_view name = unquoted(event.text(Key::name));
  return event.phase == 'M' && std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Writes events as strict JSON with other values of pid and ts.
class Rewriter {
 public:
  explicit Rewriter(const Survey& survey, std::int64_t rank) : survey_(survey), rank_(rank) {}

  // The result is valid until the next call. Repairs are counted in `problems`.
  std::string_view rewrite(const Event& event, ProblemCounts& problems) {
    const std::string pid = std::to_string(pid_of(event));
    if (is_clean_event(event)) return replace(event, pid);
    ProblemCounts ignored;  // the text is strict JSON now
    mended_ = repair_event(event, problems);
    scanner_.start(mended_, event.offset, traceloom::Position::first, ignored);
    const Event* const clean = scanner_.next();
    return clean == nullptr ? std::string_view() : replace(*clean, pid);
  }

 private:
  std::string_view replace(const Event& event, const std::string& new_pid) {
    const FieldRange pid = event.range(Key::pid);
    const FieldRange ts = event.range(Key::ts);
    // The scanner's text of an event begins with its brace, and an event has at least a phase after
    // it.
    text_ = pid.end == 0 ? fmt::format("{{\"pid\":{},", new_pid) : "";
    std::size_t done = text_.empty() ? 0 : 1;
    const auto replace_one = [&](const FieldRange& range, const std::string& value) {
      if (range.end == 0) return;
      text_.append(event.raw.substr(done, range.begin - done)).append(value);
      done = range.end;
    };
    const std::string new_ts = time_of(event);
    if (pid.begin < ts.begin) replace_one(pid, new_pid);
    replace_one(ts, new_ts);
    if (pid.begin >= ts.begin) replace_one(pid, new_pid);
    text_.append(event.raw.substr(done));
    return text_;
  }

  std::int64_t pid_of(const Event& event) const {
    const auto found = survey_.pids.find(canonical_id(event.text(Key::pid)));
    return found == survey_.pids.end() ? rank_ : found->second;
  }

  std::string time_of(const Event& event) const {
    const std::string_view text = event.text(Key::ts);
    const std::optional<ParsedTime> time = parse_time(text);
    const std::optional<ParsedTime> moved =
        time && survey_.base_ns != 0 ? add(*time, ParsedTime{survey_.base_ns}) : std::nullopt;
    if (!moved) return std::string(text);
    std::string result;
    append_microseconds(result, moved->rounded_ns());
    return result;
  }

  const Survey& survey_;
  std::int64_t rank_;
  EventScanner scanner_;
  std::string mended_;
  std::string text_;
};

}  // namespace

void copy_external_trace(const std::string& path, std::int64_t rank,
                         const std::function<void(std::string_view)>& use) {
  const Survey survey = survey_trace(path, rank);
  Rewriter rewriter(survey, rank);
  ProblemCounts problems;
  ProblemCounts ignored;  // a bad duration is reported when our file is read
  // Args are read, too, because they may have to be repaired.
  const TraceEnd end = read_trace(path, Args::read, [&](const Event& event) {
    const std::string pid = canonical_id(event.text(Key::pid));
    const bool is_process = pid.empty() || pid == survey.process;
    if ((is_process && names_process(event)) || speaks_for_file(event)) return;
    if (time_start(event, ignored).usable) return use(rewriter.rewrite(event, problems));
    problems.add(event.phase == 0 ? Problem::no_phase : Problem::bad_timestamp, event.offset);
  });
  for (const Problem kind : end.problems.kinds())
    if (describe(kind).severity == Severity::loss)
      problems.add(kind, end.problems.first_offset(kind), end.problems.count(kind));
  tell_problems(path, problems, end.bad_base);
}

}  // namespace traceloom::record
