#include "record/files/recorder_json.h"

#include "output/json_writer.h"

#include <string_view>

namespace traceloom::record {

std::string recorder_json(const RecorderCounts& counts) {
  constexpr std::size_t kMostOfError = 100;  // room is kept for a short one
  std::string text;
  JsonWriter json(text);
  const auto number = [&](const char* key, auto value) {
    json.key(key);
    json.value(value);
  };
  const auto number_if_any = [&](const char* key, std::uint64_t value) {
    if (value > 0) number(key, value);
  };
  json.begin_object();
  number("events", counts.events);
  number("dropped", counts.dropped);
  if (counts.is_ring) number("when_full", "ring");
  number("lost", counts.lost);
  number_if_any("unnamed", counts.unnamed);
  number_if_any("recovered", counts.recovered);
  number_if_any("damaged", counts.damaged);
  if (!counts.error.empty())
    number("error", std::string_view(counts.error).substr(0, kMostOfError));
  if (counts.clock_error_ns) number("clock_error_ns", *counts.clock_error_ns);
  json.end_object();
  return text;
}

}  // namespace traceloom::record
