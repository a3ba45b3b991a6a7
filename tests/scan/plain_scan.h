// scan_whole: reads the events of a file the slow way, the whole text in one piece, for comparison
// with chunks, windows and threads.
//
//   CHECK(scan_whole(text).events == recorder.files[0].events);
#pragma once

#include "base/problems.h"
#include "scan/event_scanner.h"
#include "scan/list_reader.h"
#include "scan/scan_files.h"
#include "scan/top_level.h"
#include "support/memory_source.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

struct FoundEvent {
  std::uint64_t offset;
  std::string raw;

  friend bool operator==(const FoundEvent&, const FoundEvent&) = default;
};

// Everything that is known of a file once it has been read.
struct FoundFile {
  std::vector<FoundEvent> events;
  std::vector<std::string> members;   // "key=value" of the top level
  std::vector<std::string> problems;  // "name count@offset"
  std::uint64_t event_count = 0;
  std::uint64_t text_bytes = 0;
  std::string error;
  int ends = 0;  // number of calls of end_file() or fail_file()

  friend bool operator==(const FoundFile&, const FoundFile&) = default;
};

inline std::vector<std::string> to_texts(const ProblemCounts& problems) {
  std::vector<std::string> texts;
  for (const Problem kind : problems.kinds())
    texts.push_back(std::string(describe(kind).name) + " " + std::to_string(problems.count(kind)) +
                    "@" + std::to_string(problems.first_offset(kind)));
  return texts;
}

inline std::vector<std::string> to_texts(const TopLevelParser& top_level) {
  std::vector<std::string> texts;
  for (const TopLevelEntry& entry : top_level.entries())
    texts.push_back(entry.key + "=" + entry.value);
  return texts;
}

// The objects of a valid list that begins at `begin`, by counting brackets; goes no further than
// the text.
inline std::vector<FoundEvent> split_list(std::string_view text, std::size_t begin) {
  std::vector<FoundEvent> events;
  bool in_string = false;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (depth++ == 0) start = i;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return events;
      if (--depth == 0) events.push_back({start, std::string(text.substr(start, i + 1 - start))});
    }
  }
  return events;
}

// Returns where the events of a generated trace begin.
inline std::size_t list_begin(std::string_view trace) {
  return trace.find('[', trace.starts_with('[') ? 0 : trace.find("\"traceEvents\"")) + 1;
}

// One TopLevelParser and one EventScanner over the whole text.
inline FoundFile scan_whole(const std::string& text, const std::string& path = "whole.json") {
  FoundFile found;
  TopLevelParser parser(path);
  ProblemCounts problems;
  EventScanner scanner;
  std::size_t at = 0;
  bool cut = false;
  try {
    while (at < text.size()) {
      at += parser.feed(std::string_view(text).substr(at));
      if (parser.state() != TopLevelParser::State::in_list) break;
      scanner.start(std::string_view(text).substr(at), at, Position::first, problems);
      while (const Event* event = scanner.next()) {
        found.events.push_back({event->offset, std::string(event->raw)});
        ++found.event_count;
      }
      at += scanner.end_position();
      cut = scanner.end() == ScanEnd::cut;
      if (scanner.end() != ScanEnd::array) break;
      parser.resume(at);
    }
    if (cut) problems.add(Problem::cut_event, at);
    parser.finish(text.size(), cut);
    if (found.event_count == 0) problems.add(Problem::empty_trace, 0);
  } catch (const Error& error) {
    found.error = error.what();
    return found;
  }
  problems.add(parser.problems());
  found.members = to_texts(parser);
  found.problems = to_texts(problems);
  found.text_bytes = text.size();
  return found;
}

// Keeps everything that scan_files() reports; a file that fails does not stop it.
class Recorder : public FileVisitor {
 public:
  explicit Recorder(std::size_t file_count) : files(file_count) {}

  std::unique_ptr<ChunkResult> make_result() override { return std::make_unique<Result>(); }
  void visit(ChunkResult& result, std::size_t file, const Event& event) override {
    auto& own = static_cast<Result&>(result);
    own.file = file;
    own.events.push_back({event.offset, std::string(event.raw)});
  }
  void take(ChunkResult& result, std::size_t file) override {
    auto& own = static_cast<Result&>(result);
    if (!own.events.empty() && own.file != file) files[file].error = "events of another file";
    for (FoundEvent& event : own.events) files[file].events.push_back(std::move(event));
  }
  void end_file(std::size_t file, const FileEnd& end) override {
    FoundFile& found = files[file];
    found.members = to_texts(end.top_level);
    found.problems = to_texts(end.problems);
    found.event_count = end.events;
    found.text_bytes = end.text_bytes;
    ++found.ends;
    order.push_back(file);
  }
  void fail_file(std::size_t file, const Error& error) override {
    files[file].error = error.what();
    ++files[file].ends;
    order.push_back(file);
  }

  std::vector<FoundFile> files;
  std::vector<std::size_t> order;  // order in which the files ended

 protected:
  struct Result : ChunkResult {
    std::size_t file = 0;
    std::vector<FoundEvent> events;
  };
};

// Does the work of scan_files() for one file, one chunk after another, with chunks of any size.
inline FoundFile scan_chunks(const std::string& text, std::size_t chunk_bytes,
                             std::size_t max_event_bytes = kMaxEventBytes) {
  Recorder recorder(1);
  TopLevelParser parser("t.json");
  ListReader list(recorder, 0, "t.json", parser, max_event_bytes);
  MemorySource source(text);
  ChunkReader reader(source, chunk_bytes);
  bool in_list = false;
  try {
    for (Chunk chunk; reader.next(chunk);) {
      std::size_t skip = 0;
      if (!in_list) {
        skip = parser.feed(chunk.text());
        in_list = parser.state() == TopLevelParser::State::in_list;
        chunk.at_event_start = false;
      }
      ScannedText scanned;
      if (in_list && (skip > 0 || chunk.at_event_start))
        scanned = scan_text(recorder, 0, chunk.text().substr(skip), chunk.offset + skip,
                            skip > 0 ? Position::first : Position::after_comma,
                            chunk.last ? Behind::nothing : Behind::more_text);
      if (in_list) list.add(chunk, skip, std::move(scanned));
    }
    if (!in_list) parser.finish(text.size(), false);
    recorder.end_file(0, list.finish(text.size(), {}));
  } catch (const Error& error) {
    recorder.files[0].error = error.what();
  }
  recorder.files[0].ends = 0;
  return recorder.files[0];
}

}  // namespace traceloom
