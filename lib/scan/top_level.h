// TopLevelParser: what stands around the event list: the keys of a trace object before and after
// it.
//
//   TopLevelParser parser("rank3.json");
//   std::size_t used = parser.feed(text);                  // until state() is in_list
//   ... the events are read by an EventScanner ...
//   parser.resume(offset);
//   parser.feed(rest);
//   parser.finish(file_size, false);
//   for (const TopLevelEntry& entry : parser.entries()) use(entry.key, entry.value);
//
// Needs no more memory than the keys and values it keeps: 64 MiB at most, what is beyond is counted
// and left out. A key of more than 1 MiB is taken for a quote that was never closed.
#pragma once

#include "base/problems.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// One key outside of the event list, with its value as it is written.
struct TopLevelEntry {
  std::string key;           // decoded
  std::string value;         // JSON text; strict JSON is not checked
  std::uint64_t offset = 0;  // of the value in the uncompressed text
};

class TopLevelParser {
 public:
  enum class State : std::uint8_t {
    before,   // white space (and a byte order mark) so far
    members,  // in the object, outside the event list
    in_list,  // the text that follows is the event list
    done,     // the document has ended
  };

  // `path` is for the Errors that feed() throws.
  explicit TopLevelParser(std::string path) : path_(std::move(path)) {}

  // Reads `text`, which continues what was fed before; returns how many bytes it used: all of them,
  // but for in_list, where the rest belongs to the event list. Throws Error, with the byte offset,
  // when the text is no trace: no JSON, a plain value, an object without a traceEvents list (at
  // finish()).
  std::size_t feed(std::string_view text);
  // The event list has ended before `offset`; what is fed next stands behind its bracket.
  void resume(std::uint64_t offset);
  // No more text: `offset` is its size. Throws Error when no event list was met; counts what is
  // missing at the end.
  void finish(std::uint64_t offset, bool cut_inside_event);

  State state() const { return state_; }
  const std::vector<TopLevelEntry>& entries() const { return entries_; }
  // The same for who keeps them, without a copy of what may be 64 MiB.
  std::vector<TopLevelEntry> take_entries() { return std::move(entries_); }
  // The value of the last entry with that key, or empty.
  std::string_view value(std::string_view key) const;
  const ProblemCounts& problems() const { return problems_; }

 private:
  enum class Step : std::uint8_t { key, key_text, colon, value, plain, quoted, nested, comma };

  void start_document(char c);
  void read_member(char c);
  void read_key(char c);
  void read_value_start(char c);
  void read_nested(char c);
  void keep(char c);
  void end_value();
  void after_document(char c);
  void fail(const std::string& problem);

  std::string path_;
  State state_ = State::before;
  Step step_ = Step::key;
  bool is_object_ = false;  // {"traceEvents": [...]}, not a bare list
  bool had_list_ = false;
  bool has_list_ = false;  // the document, of maybe several, that is an object
  bool ignores_rest_ = false;
  bool escaped_ = false;    // the last character was a backslash in a string
  bool in_string_ = false;  // inside a nested value
  std::uint64_t depth_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t value_offset_ = 0;
  std::uint64_t kept_bytes_ = 0;  // by all entries
  bool value_dropped_ = false;
  std::string key_;
  std::string value_;
  std::string not_a_list_;  // what traceEvents was when it was no list
  std::vector<TopLevelEntry> entries_;
  ProblemCounts problems_;
};

}  // namespace traceloom
