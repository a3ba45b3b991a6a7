// read_trace(), Events and others: what tests ask of the files that a session has written.
#pragma once

#include "base/json_string.h"
#include "input/byte_source.h"
#include "record/recorder.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom::record {

// Returns the text unpacked, as trace-merge reads it.
inline std::string read_trace(const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_input(path);
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (const std::size_t count = source->read(buffer)) text.append(buffer.data(), count);
  return text;
}

// The events of a trace, one a line.
class Events {
 public:
  explicit Events(const std::string& text) {
    std::size_t begin = 0;
    while (begin < text.size()) {
      std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string line = text.substr(begin, end - begin);
      if (line.ends_with(',')) line.pop_back();
      if (line.starts_with('{')) lines_.push_back(line);
      begin = end + 1;
    }
  }
  static Events of_file(const std::string& path) { return Events(read_trace(path)); }

  // Returns the events that contain the part.
  Events with(std::string_view part) const {
    Events some("");
    for (const std::string& line : lines_)
      if (line.find(part) != std::string::npos) some.lines_.push_back(line);
    return some;
  }
  Events of(std::string_view name, std::string_view phase) const {
    return with("{\"name\":\"" + std::string(name) + "\",")
        .with("\"ph\":\"" + std::string(phase) + "\"");
  }
  std::size_t count(std::string_view name, std::string_view phase) const {
    return of(name, phase).size();
  }
  std::size_t size() const { return lines_.size(); }
  const std::string& operator[](std::size_t i) const { return lines_.at(i); }
  auto begin() const { return lines_.begin(); }
  auto end() const { return lines_.end(); }

 private:
  std::vector<std::string> lines_;
};

// Returns the number after "key": in an event, in thousandths (so microseconds become nanoseconds).
inline std::int64_t nanoseconds(const std::string& event, std::string_view key) {
  const std::size_t at = event.find("\"" + std::string(key) + "\":");
  REQUIRE(at != std::string::npos);
  std::string digits;
  std::size_t i = at + key.size() + 3;
  for (; i < event.size() && std::isdigit(static_cast<unsigned char>(event[i])) != 0; ++i)
    digits += event[i];
  std::string decimals;
  if (i < event.size() && event[i] == '.')
    for (++i; i < event.size() && std::isdigit(static_cast<unsigned char>(event[i])) != 0; ++i)
      decimals += event[i];
  decimals.resize(3, '0');
  return std::stoll(digits + decimals);
}

inline std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the files that a merge of the folder would take.
inline std::vector<std::string> visible_files_in(const std::string& folder) {
  std::vector<std::string> names = files_in(folder);
  std::erase_if(names, [](const std::string& name) { return name.starts_with('.'); });
  return names;
}

// Returns options whose traces go to `folder`, which may hold others.
inline Options options_for(const TemporaryFolder& folder) {
  Options options;
  options.folder = folder.path();
  options.overwrite = true;
  return options;
}

inline void record_scopes(const Marker& marker, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) const Scope scope(marker);
}

// Runs one batch; afterwards the position is that of the next one.
template <typename Work>
void run_batch(Session& session, Position& at, const Work& work) {
  session.batch_begin(at);
  work();
  ++at.batch;
  session.batch_end(at);
}

// Runs batches from the first on; the marker is on for a moment in each.
inline void run_batches(Session& session, const Marker& marker, int batches) {
  Position at;
  for (int i = 0; i < batches; ++i) run_batch(session, at, [&] { record_scopes(marker, 1); });
}

inline std::string only_trace(const Session& session) {
  const std::vector<SavedTrace> saved = session.saved_traces();
  REQUIRE(saved.size() == 1);
  return saved[0].path;
}

}  // namespace traceloom::record
