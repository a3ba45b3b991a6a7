// TopLevelParser: reads the text around the event list: the keys of a trace object before and after
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
// Documents one behind the other are one trace if they say the same of rank and clock. Others are
// refused: the whole file would be on the clock of one of them.
//
// It needs no more memory than the keys and values that it keeps. It keeps at most 64 MiB; further
// ones are counted and left out. A key of more than 1 MiB is treated as a quote that was never
// closed.
#pragma once

#include "base/problems.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// One key outside of the event list, with its value as it is written.
struct TopLevelEntry {
  std::string key;           // decoded
  std::string value;         // JSON text; it may be no strict JSON
  std::uint64_t offset = 0;  // offset of the value in the uncompressed text
};

class TopLevelParser {
 public:
  enum class State : std::uint8_t {
    before,   // white space (and a byte order mark) so far
    members,  // inside the object, outside the event list
    in_list,  // the text that follows is the event list
    done,     // the document has ended
  };

  // `path` is for the Errors that feed() throws.
  explicit TopLevelParser(std::string path) : path_(std::move(path)) {}

  // Reads `text`, which continues the text of the previous call. Returns the number of bytes it
  // used: all of them, except in state in_list, where the rest belongs to the event list. Throws
  // Error with the byte offset if the text is no trace: not JSON, a plain value, or (in finish())
  // an object without a traceEvents list.
  std::size_t feed(std::string_view text);
  // Call it after the end of the event list, which is before `offset`; the next text follows the
  // list's bracket.
  void resume(std::uint64_t offset);
  // Call it after the last text; `offset` is the size of the text. Throws Error if no event list
  // was met; counts what is missing at the end.
  void finish(std::uint64_t offset, bool cut_inside_event);

  State state() const { return state_; }
  const std::vector<TopLevelEntry>& entries() const { return entries_; }
  // The same for callers that keep the entries, without a copy of up to 64 MiB.
  std::vector<TopLevelEntry> take_entries() { return std::move(entries_); }
  // Returns the value of the last entry with that key, or an empty text.
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
  void check_document();
  void fail(const std::string& problem);

  std::string path_;
  State state_ = State::before;
  Step step_ = Step::key;
  bool is_object_ = false;  // true for {"traceEvents": [...]}, false for a bare list
  bool had_list_ = false;
  bool has_list_ = false;  // this document (there may be several) has a list
  bool ignores_rest_ = false;
  bool escaped_ = false;    // the last character was a backslash in a string
  bool in_string_ = false;  // true inside a string of a nested value
  std::uint64_t depth_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t value_offset_ = 0;
  std::uint64_t kept_bytes_ = 0;  // bytes of all entries
  bool value_dropped_ = false;
  std::string key_;
  std::string value_;
  std::string not_a_list_;  // the kind of value that traceEvents had if it was no list
  std::vector<TopLevelEntry> entries_;
  std::uint64_t document_offset_ = 0;    // where this document begins
  std::size_t document_entry_ = 0;       // its first entry
  std::vector<std::string> first_said_;  // what the first document says of its rank and clock
  std::optional<Error> other_document_;  // a document that says something else
  ProblemCounts problems_;
};

}  // namespace traceloom
