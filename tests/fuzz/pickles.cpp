// Pickles: a file is refused with an Error, or its snapshot is replayed and its parts agree.
#include "base/problems.h"
#include "fuzz/fuzz.h"
#include "memory/replay.h"

#include <numeric>

using namespace traceloom;

namespace {

void check(const MemoryAnswer& answer) {
  std::int64_t at_peak = 0;
  std::int64_t at_end = 0;
  for (const PlaceMemory& place : answer.places) {
    require(place.at_peak >= 0 && place.at_end >= 0);
    at_peak += place.at_peak;
    at_end += place.at_end;
  }
  require(at_peak == answer.peak.requested);
  require(at_end == answer.end.requested);
  require(answer.peak.requested >= answer.end.requested);
  require(answer.peak.active >= answer.end.active);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(std::string_view(reinterpret_cast<const char*>(data), size));
  try {
    const auto source = open_any(file.path());
    const PickleDocument document = read_pickle(*source, file.path());
    const Snapshot snapshot = snapshot_of(document, file.path());
    for (const DeviceSnapshot& device : snapshot.devices) check(replay(snapshot, device));
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
