// Evidence from trace text, as scanning it gives it.
#pragma once

#include "identity/evidence/file_reading.h"
#include "scan/event_scanner.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace traceloom {

// Returns the evidence of the elements of an event list. Commas stand between them; the first
// element stands at `offset`.
inline FileEvidence evidence_of(std::string_view elements, std::uint64_t offset = 0) {
  const std::string text(elements);
  FileEvidence evidence;
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(text, offset, Position::first, problems);
  while (const Event* event = scanner.next()) evidence.add(*event);
  REQUIRE(problems.empty());
  return evidence;
}

// Adds what stands around the events in `object`, a trace with an empty event list.
inline void add_top_level(FileEvidence& evidence, std::string_view object) {
  TopLevelParser parser("trace.json");
  const std::size_t list = parser.feed(object);
  REQUIRE(parser.state() == TopLevelParser::State::in_list);
  const std::size_t behind = object.find(']', list) + 1;
  parser.resume(behind);
  parser.feed(object.substr(behind));
  parser.finish(object.size(), false);
  evidence.add_top_level(parser);
}

inline FileEvidence evidence_around(std::string_view object) {
  FileEvidence evidence;
  add_top_level(evidence, object);
  return evidence;
}

}  // namespace traceloom
