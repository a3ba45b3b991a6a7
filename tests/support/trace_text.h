// TraceText: a trace for a test, written in a line or two.
//
//   std::string text = TraceText().tid("7").x("gemm", "10.5", 5).b("step", 1).e("step",
//   30).array();
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Microseconds as they shall stand in the file: a whole number, or any text ("10.5", "1e3",
// "null").
struct Us {
  Us(std::integral auto number) : text(std::to_string(number)) {}
  Us(const char* written) : text(written) {}

  std::string text;
};

// Names are put between quotes as they are, so they may hold escapes; pid, tid, id and args are
// JSON values.
class TraceText {
 public:
  // They set pid and tid of all later events; both are 1 at first.
  TraceText& pid(std::string_view json) { return assign(pid_, json); }
  TraceText& tid(std::string_view json) { return assign(tid_, json); }
  TraceText& cat(std::string_view name) { return assign(cat_, name); }

  TraceText& x(std::string_view name, const Us& ts, const Us& dur, std::string_view args = "") {
    return event("X", name, ts.text, field("dur", dur.text), args);
  }
  TraceText& b(std::string_view name, const Us& ts, std::string_view args = "") {
    return event("B", name, ts.text, "", args);
  }
  TraceText& e(std::string_view name, const Us& ts, std::string_view args = "") {
    return event("E", name, ts.text, "", args);
  }
  // An E without a name.
  TraceText& e(const Us& ts) {
    return raw("{\"ph\": \"E\"" + field("ts", ts.text) + thread() + "}");
  }
  TraceText& i(std::string_view name, const Us& ts, std::string_view args = "") {
    return event("i", name, ts.text, field("s", "\"t\""), args);
  }
  TraceText& c(std::string_view name, const Us& ts, std::string_view args) {
    return event("C", name, ts.text, "", args);
  }
  TraceText& m(std::string_view name, std::string_view args) {
    return event("M", name, "", "", args);
  }
  // Flows (s, t, f) and async events (b, n, e): `phase` at `ts` with an id.
  TraceText& with_id(std::string_view phase, std::string_view name, const Us& ts,
                     std::string_view id) {
    return event(phase, name, ts.text, field("id", id), "");
  }
  // Adds any element to the list, even one that is no event.
  TraceText& raw(std::string_view json) {
    elements_.emplace_back(json);
    return *this;
  }
  // Adds the events that Composer writes at the start of a rank's file.
  TraceText& composer_rank(int rank, std::string_view clock_sync_us) {
    m("global_rank", "{\"value\": " + std::to_string(rank) + "}");
    return m("clock_sync_timestamp_us", "{\"value\": " + std::string(clock_sync_us) + "}");
  }

  // A list, one event a line, as Composer writes it.
  std::string array() const { return "[\n" + joined(",\n") + "\n]\n"; }
  // The same as its writer leaves it when it is killed.
  std::string cut_array() const { return "[\n" + joined(",\n") + ",\n"; }
  // An object; `members` come before the events: "\"schemaVersion\": 1".
  std::string object(std::string_view members = "") const {
    std::string text = "{\n";
    if (!members.empty()) text.append(members) += ",\n";
    return text + "\"traceEvents\": [\n" + joined(",\n") + "\n]\n}\n";
  }
  // Everything on one line.
  std::string compact() const { return "{\"traceEvents\":[" + joined(",") + "]}"; }

 private:
  TraceText& assign(std::string& target, std::string_view value) {
    target = value;
    return *this;
  }
  static std::string field(std::string_view key, std::string_view json) {
    return ", \"" + std::string(key) + "\": " + std::string(json);
  }
  std::string thread() const { return field("pid", pid_) + field("tid", tid_); }

  TraceText& event(std::string_view phase, std::string_view name, std::string_view ts,
                   std::string_view more, std::string_view args) {
    std::string text = "{\"name\": \"" + std::string(name) + "\"";
    if (!cat_.empty()) text += field("cat", "\"" + cat_ + "\"");
    text += field("ph", "\"" + std::string(phase) + "\"");
    if (!ts.empty()) text += field("ts", ts);
    text.append(more) += thread();
    if (!args.empty()) text += field("args", args);
    return raw(text + "}");
  }

  std::string joined(std::string_view separator) const {
    std::string text;
    for (const std::string& element : elements_) {
      if (!text.empty()) text += separator;
      text += element;
    }
    return text;
  }

  std::string pid_ = "1";
  std::string tid_ = "1";
  std::string cat_;
  std::vector<std::string> elements_;
};

// The file of a rank that Composer has written, with one span.
inline std::string rank_text(int rank, std::string_view clock_sync_us, const Us& ts) {
  return TraceText().composer_rank(rank, clock_sync_us).x("step", ts, 5).array();
}

}  // namespace traceloom
