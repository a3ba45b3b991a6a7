#include "run/launches.h"

namespace traceloom {

Launches::Launches(const std::vector<EventColumns>& parts) {
  for (const EventColumns& part : parts)
    for (const auto& calls : {&part.calls, &part.calls_outside})
      for (const CallSpan& call : *calls)
        calls_.add(part.file, call.correlation, call.start_ns, &call);
  calls_.sort();
}

const CallSpan* Launches::find(const EventColumns& part, const DeviceSpan& work) const {
  const CallSpan* const* const found = calls_.find(part.file, work.correlation, work.start_ns);
  return found == nullptr ? nullptr : *found;
}

}  // namespace traceloom
