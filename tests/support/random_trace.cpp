#include "support/random_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

// JSON texts, with their quotes.
constexpr std::array<std::string_view, 14> kNames = {
    R"("aten::mm")",
    R"("aten::add_")",
    R"("ProfilerStep#12")",
    R"("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")",
    R"x("void gemm<4, Op<float, std::array<char*, 3ul>>>(int, {lambda()#1})")x",
    R"("event/forward")",
    R"("caf\u00e9")",
    R"("naïve → ✓")",
    R"("say \"hi\" \\ to C:\/tmp")",
    R"("tab\tand\nline")",
    R"("smile \ud83d\ude00 raw 😀")",
    R"("{\"ph\": \"E\", \"ts\": 1}, [")",
    R"("]}],")",
    R"("")",
};

constexpr std::array<std::string_view, 6> kCats = {
    R"("cpu_op")", R"("kernel")", R"("")", R"("a,b")", R"("user_annotation")", R"("disabled\/x")"};

// The first is torch's, of an event of 2025; the last one ends too late where ts is Unix time.
constexpr std::array<std::string_view, 4> kEndlessDurations = {
    "7464372036854775.808", "9223372036854775807", "1e300", "9223372036854775.807"};

constexpr std::array<std::string_view, 8> kArgs = {
    R"({})",
    R"({"External id": 17, "Input Dims": [[2, 3], [], [128, 64, 1]], "Concrete": ["", "1.0"]})",
    R"({"a": {"b": [{"c": {}}, [], null, true]}, "text": "}]{[\",\\"})",
    R"({"big": 18446744073709551615, "tiny": -1.5e-7, "one": 1.0})",
    R"({"ts": 5, "ph": "B", "name": "inner", "args": {"dur": -1}})",
    R"("__stripped__")",
    R"({"µ": "é → 😀", "\u0041": "\u00e9"})",
    R"({"stream": 7, "correlation": 9007199254740993})",
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kThreads = {{
    {"1", "7"},
    {"1", "\"7\""},
    {"1", "8"},
    {"\"Spans\"", "\"PyTorch Profiler\""},
    {"-1", "-1107294656"},
    {"4294967299", "139987654321984"},
    {"0", "0"},
    {"\"\"", "\"\""},
}};

// The fields of rare events after their time; ph is the first.
constexpr std::array<std::string_view, 20> kRare = {
    R"("ph": "N", "id": "0x5")",
    R"("ph": "N", "id": 6, "scope": "s")",
    R"("ph": "O", "id": "0x5", "args": {"snapshot": {"to": {"id_ref": "0x5"}, "in": {"id": "T/0x9"}}})",
    R"("ph": "O", "id2": {"global": "0x5"}, "args": {"snapshot": {"a": [{"id_ref": "0x9"}]}})",
    R"("ph": "D", "id": "0x5")",
    R"("ph": "(", "id": "0x5")",
    R"("ph": "v", "id": "0xd", "args": {"dumps": {"heaps": {"m": {"entries": [{"bt": "2"}]}}}})",
    R"("ph": "P", "id": "0x5", "args": {"data": {"source": "x"}})",
    R"("ph": "P", "name": "sample", "sf": 7)",
    R"("ph": "c", "args": {"sync_id": "A"})",
    R"("ph": "S", "id": 5)",
    R"("ph": "T", "id": 5, "args": {"step": "one"})",
    R"("ph": "F", "id": "5")",
    R"("ph": "C", "id": 3, "args": {"v": 1, "w": "x"})",
    R"("ph": "C", "args": {"v": null})",
    R"("ph": "s", "id2": {"local": "0x5"})",
    R"("ph": "R", "s": "x", "tts": "12.5")",
    R"("ph": "X", "dur": 0, "sf": "7", "esf": 8, "tts": 5, "tdur": null)",
    R"("ph": "X", "dur": 1, "bind_id": "0x7", "flow_out": 1, "args": {"r": {"id_ref": "0x6"}})",
    R"("ph": "i", "id2": {}, "id": 4, "sf": 8)",
};
constexpr std::string_view kFrames =
    R"("stackFrames": {"7": {"name": "main"}, "8": {"name": "f", "parent": 7}})";

// An event as JSON texts; empty fields are not written.
struct Fields {
  std::int64_t ts_picos;  // 10^-6 us after the base
  std::string ph, name, cat, ts, dur, pid, tid, id, args, more;
};

class Generator {
 public:
  explicit Generator(const RandomTraceOptions& options)
      : options_(options), random_(options.seed * 3 + static_cast<std::uint64_t>(options.style)) {
    static constexpr std::array<std::int64_t, 4> kBasesUs = {0, -5'000, 7'890'123'456'789,
                                                             1'795'202'033'320'872};
    base_us_ = kBasesUs[below(kBasesUs.size())];
    // The smallest step of time, in millionths of a microsecond: 0 to 3 decimals, rarely 6.
    static constexpr std::array<std::int64_t, 9> kGrids = {
        1'000'000, 1'000'000, 1'000'000, 100'000, 10'000, 1'000, 1'000, 1'000, 1};
    grid_ = kGrids[below(kGrids.size())];
  }

  std::vector<Fields> events() {
    const std::size_t threads = 1 + below(kThreads.size());
    for (std::size_t thread = 0; thread < threads; ++thread) {
      // Two spellings of one thread interleave their pairs.
      if (!options_.broken_pairs && kThreads[thread].second == "\"7\"") continue;
      run_thread(kThreads[thread], options_.events / static_cast<int>(threads));
    }
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Fields& a, const Fields& b) { return a.ts_picos < b.ts_picos; });
    if (options_.out_of_order)
      for (std::size_t i = 1; i < events_.size(); i += 2)
        if (below(8) == 0 && whole_ns(events_[i - 1]) != whole_ns(events_[i]))
          std::swap(events_[i - 1], events_[i]);
    return std::move(events_);
  }

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

 private:
  using Thread = std::pair<std::string_view, std::string_view>;

  // Events of one nanosecond happen in the order of the file, so they keep it.
  static std::int64_t whole_ns(const Fields& fields) { return (fields.ts_picos + 500) / 1000; }

  template <typename Table>
  std::string pick(const Table& table) {
    return std::string(table[below(table.size())]);
  }

  std::string microseconds(std::int64_t picos) {
    std::int64_t us = base_us_ + picos / 1'000'000;
    std::int64_t fraction = picos % 1'000'000;
    const bool negative = us < 0;
    if (negative) {  // -2 us and 0.25 us more are -1.75 us
      us = fraction == 0 ? -us : -us - 1;
      fraction = fraction == 0 ? 0 : 1'000'000 - fraction;
    }
    return (negative ? "-" : "") + decimal(us, fraction);
  }

  // Kineto always writes three decimals, the others none where there is nothing to say.
  std::string decimal(std::int64_t us, std::int64_t fraction) const {
    std::string text = fmt::format("{}.{:06}", us, fraction);
    const std::size_t least = text.size() - (options_.style == TraceStyle::kineto ? 3 : 6);
    while (text.size() > least && text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
  }

  Fields& add(const Thread& thread, std::string phase, std::string name) {
    Fields fields;
    fields.ts_picos = now_;
    fields.ph = std::move(phase);
    fields.name = std::move(name);
    if (below(4) != 0) fields.cat = pick(kCats);
    fields.ts = microseconds(now_);
    fields.pid = thread.first;
    fields.tid = thread.second;
    if (below(2) == 0) fields.args = pick(kArgs);
    events_.push_back(std::move(fields));
    return events_.back();
  }

  void run_thread(const Thread& thread, int count) {
    now_ = 0;
    open_.clear();
    for (int i = 0; i < count; ++i) {
      if (below(4) != 0) now_ += grid_ * static_cast<std::int64_t>(below(2'000'000 / 7));
      add_random(thread);
    }
    while (!open_.empty() && (!options_.broken_pairs || below(6) != 0)) {
      now_ += grid_;
      end_one(thread);
    }
  }

  void add_random(const Thread& thread) {
    if (options_.rare_events && below(3) == 0) {
      add(thread, "", pick(kNames)).more = pick(kRare);
      events_.back().args.clear();
      return;
    }
    switch (below(16)) {
      case 0:
        add(thread, "\"i\"", pick(kNames)).more = R"("s": "t")";
        break;
      case 1:
        add(thread, "\"C\"", R"("mem")").args = fmt::format(R"({{"used": {}.5}})", below(1000));
        break;
      case 2:
        add_pair_with_id(thread, "\"s\"", "\"f\"", R"("bp": "e")");
        break;
      case 3:
        add_pair_with_id(thread, "\"b\"", "\"e\"", "");
        break;
      case 4:
      case 5:
      case 6:
      case 7:
        open_.push_back(pick(kNames));
        add(thread, "\"B\"", open_.back());
        break;
      case 8:
      case 9:
      case 10:
      case 11:
        end_one(thread);
        break;
      default:
        add_complete(thread);
    }
  }

  void add_complete(const Thread& thread) {
    const std::int64_t picos =
        below(8) == 0 ? 0 : grid_ * static_cast<std::int64_t>(below(900'000));
    const bool ends = !options_.never_ended || below(10) != 0;
    add(thread, "\"X\"", pick(kNames)).dur =
        ends ? decimal(picos / 1'000'000, picos % 1'000'000) : std::string(pick(kEndlessDurations));
  }

  void add_pair_with_id(const Thread& thread, const char* first, const char* second,
                        const char* more_of_second) {
    const std::size_t number = below(50);
    const std::string id =
        number % 2 == 0 ? fmt::format("{}", number) : fmt::format("\"0x{:x}\"", number);
    add(thread, first, R"("flow")").id = id;
    now_ += grid_;
    Fields& end = add(thread, second, R"("flow")");
    end.id = id;
    end.more = more_of_second;
  }

  // Ends the innermost open B, with or without its name; in traces with broken pairs sometimes
  // another one, or one that was never begun.
  void end_one(const Thread& thread) {
    if (options_.broken_pairs && below(8) == 0) {
      const std::string name = pick(kNames);
      const auto begin = std::find(open_.rbegin(), open_.rend(), name);
      if (begin != open_.rend()) open_.erase(std::next(begin).base());
      add(thread, "\"E\"", name);
    } else if (!open_.empty()) {
      add(thread, "\"E\"", below(5) == 0 ? "" : open_.back());
      open_.pop_back();
    }
  }

  RandomTraceOptions options_;
  std::mt19937_64 random_;
  std::int64_t base_us_ = 0;
  std::int64_t grid_ = 1;
  std::int64_t now_ = 0;           // 10^-6 us after the base
  std::vector<std::string> open_;  // names of the thread's open B events
  std::vector<Fields> events_;
};

void append_field(std::string& text, std::string_view key, std::string_view value,
                  std::string_view separator) {
  if (value.empty()) return;
  if (text.back() != '{' && text.back() != ' ' && text.back() != '\n') text += separator;
  text += fmt::format("\"{}\": {}", key, value);
}

std::string one_line(const Fields& event, std::string_view separator) {
  std::string text = "{";
  append_field(text, "name", event.name, separator);
  append_field(text, "cat", event.cat, separator);
  append_field(text, "ph", event.ph, separator);
  append_field(text, "ts", event.ts, separator);
  append_field(text, "dur", event.dur, separator);
  append_field(text, "pid", event.pid, separator);
  append_field(text, "tid", event.tid, separator);
  append_field(text, "id", event.id, separator);
  append_field(text, "args", event.args, separator);
  if (!event.more.empty()) text.append(separator) += event.more;
  return text + "}";
}

std::string pretty(const Fields& event) {
  std::string text = "  {\n    ";
  append_field(text, "ph", event.ph, ", ");
  append_field(text, "cat", event.cat, ", ");
  append_field(text, "name", event.name, ", ");
  append_field(text, "pid", event.pid, ", ");
  append_field(text, "tid", event.tid, ", ");
  append_field(text, "id", event.id, ", ");
  append_field(text, "ts", event.ts, ",\n    ");
  append_field(text, "dur", event.dur, ", ");
  if (!event.more.empty()) text += ", " + event.more;
  append_field(text, "args", event.args, ",\n    ");
  return text + "\n  }";
}

std::string metadata(std::string_view name, const std::string& args) {
  return fmt::format(
      R"({{"name": "{}", "cat": "", "ph": "M", "ts": 0, "pid": 1, "tid": 7, "args": {}}})", name,
      args);
}

std::string composer_text(const std::vector<Fields>& events, std::int64_t rank) {
  std::string text = "[\n" + metadata("global_rank", fmt::format(R"({{"value": {}}})", rank)) +
                     ",\n" + metadata("clock_sync_timestamp_us", R"({"value": 1795202033315521})");
  for (const Fields& event : events) text += ",\n" + one_line(event, ", ");
  return text + "\n]\n";
}

// Returns values outside the event list; the text ends in a comma.
std::string rare_values(const std::vector<Fields>& events) {
  return fmt::format(R"({}, "samples": [{{"ts": {}, "tid": 7, "sf": 8, "weight": 1.5}}], )",
                     kFrames, events.empty() ? "0" : events.back().ts);
}

std::string kineto_text(const std::vector<Fields>& events, std::int64_t rank, bool base_last) {
  const std::string base = "  \"baseTimeNanoseconds\": 1767189312000000000";
  std::string text = fmt::format(
      "{{\n  \"schemaVersion\": 1,\n  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, "
      "\"world_size\": 64}},\n",
      rank);
  if (!base_last) text += base + ",\n";
  text += "  \"traceEvents\": [\n  " + metadata("process_name", R"({"name": "python"})");
  for (const Fields& event : events) text += ",\n" + pretty(event);
  text += "\n  ]";
  if (base_last) text += ",\n" + base;
  return text + "\n}\n";
}

std::string compact_text(const std::vector<Fields>& events) {
  std::string text = R"({"traceEvents":[)";
  for (const Fields& event : events) {
    if (text.back() != '[') text += ',';
    text += one_line(event, ",");
  }
  return text + R"(],"displayTimeUnit":"ns"})";
}

}  // namespace

std::string random_trace(const RandomTraceOptions& options) {
  Generator generator(options);
  const std::vector<Fields> events = generator.events();
  if (options.rare_events && options.style == TraceStyle::compact)
    return "{" + rare_values(events) + compact_text(events).substr(1);
  switch (options.style) {
    case TraceStyle::composer:
      return composer_text(events, options.rank);
    case TraceStyle::kineto:
      return kineto_text(events, options.rank, generator.below(2) == 0);
    case TraceStyle::compact:
      return compact_text(events);
  }
  return "";
}

void replace_some(std::string& text, std::string_view from, std::string_view to, int every) {
  int count = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
    if (++count % every == 0) text.replace(at, from.size(), to);
}

}  // namespace traceloom
