// The JSON scanner: any text has the same events read as a whole and in chunks, by known shapes and
// without them; each stands in the text, and is strict JSON or is repaired to it.
#include "base/json_string.h"
#include "event/event_timing.h"
#include "fuzz/fuzz.h"
#include "scan/event_repair.h"
#include "scan/plain_scan.h"

#include <algorithm>
#include <string>

using namespace traceloom;

namespace {

// Where a quote is missing, text and strings change sides, and where reading goes on depends on the
// chunks. A list in which nothing is an event is refused by a ListReader alone.
void check_chunks(const std::string& text, std::size_t chunk_bytes) {
  const FoundFile whole = scan_whole(text, "t.json");
  const FoundFile chunks = scan_chunks(text, chunk_bytes);
  const auto is_malformed = [](const std::string& problem) {
    return problem.starts_with(describe(Problem::malformed_event).name);
  };
  for (const FoundFile* const found : {&whole, &chunks})
    if (std::ranges::any_of(found->problems, is_malformed)) return;
  if (whole.error.empty() && chunks.error.empty()) require(whole == chunks);
  if (!whole.error.empty()) require(!chunks.error.empty());
}

void check_events(const std::string& text) {
  static EventScanner known;
  static EventScanner walked;
  ProblemCounts problems;
  walked.ignore_shapes();
  known.start(text, 0, Position::first, problems);
  walked.start(text, 0, Position::first, problems);
  while (const Event* event = known.next()) {
    const Event* const same = walked.next();
    require(same != nullptr && same->offset == event->offset && same->raw == event->raw);
    for (std::size_t i = 0; i < kKeyCount; ++i)
      require(same->text(static_cast<Key>(i)) == event->text(static_cast<Key>(i)));
    require(text.compare(event->offset, event->raw.size(), event->raw) == 0);
    require(is_strict_json(is_clean_event(*event) ? std::string(event->raw)
                                                  : repair_event(*event, problems)));
    time_event(*event, problems);
  }
  require(walked.next() == nullptr);
  require(known.end() == walked.end() && known.end_position() == walked.end_position());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_chunks(text, 16 + data[size - 1]);
  check_events(text);
  return 0;
}
