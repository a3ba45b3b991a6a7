#include "hta_loading.h"
#include "oracle/json_value.h"
#include "oracle/oracle.h"
#include "support/temporary_folder.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace traceloom {
namespace {

using oracle::Json;

struct LoadedEvent {
  const Json* json;
  double ts;
  double end;
  bool is_device;
  std::string correlation;  // empty when there is none
};

std::string text_at(const Json& object, std::string_view key) {
  const Json* const value = object.find(key);
  return value == nullptr ? "" : value->text;
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

// True for the events that HTA calls device work. The stream of a call of HIP is a pointer, not a
// number.
bool is_device_event(const Json& event) {
  const Json* const args = event.find("args");
  return args != nullptr && is_number(text_at(*args, "stream")) &&
         is_number(text_at(*args, "correlation"));
}

std::vector<LoadedEvent> read_events(const Json& list, bool rounded) {
  bool has_parts = false;
  std::vector<LoadedEvent> events;
  for (const Json& event : list.items) {
    has_parts |= text_at(event, "ts").find('.') != std::string::npos;
    if (text_at(event, "ph") != "X" || event.find("dur") == nullptr ||
        event.find("cat") == nullptr || text_at(event, "cat") == "Trace")
      continue;
    const double ts = std::stod(text_at(event, "ts"));
    const Json* const args = event.find("args");
    events.push_back({&event, ts, ts + std::stod(text_at(event, "dur")), is_device_event(event),
                      args == nullptr ? "" : text_at(*args, "correlation")});
  }
  if (has_parts && rounded)
    for (LoadedEvent& event : events) {
      event.ts = std::ceil(event.ts);
      event.end = std::floor(event.end);
    }
  return events;
}

// Removes events outside of the steps.
void keep_steps(std::vector<LoadedEvent>& events, bool with_last) {
  std::set<std::string> names;
  double last_start = 0;
  double last_end = 0;
  for (const LoadedEvent& event : events) {
    const std::string name = text_at(*event.json, "name");
    if (name.rfind("ProfilerStep", 0) != 0 || event.is_device) continue;
    names.insert(name);
    last_start = std::max(last_start, event.ts);
    last_end = std::max(last_end, event.end);
  }
  if (names.size() < 2) return;
  const auto is_kept = [&](const LoadedEvent& event) {
    return with_last ? event.ts <= last_end : event.ts < last_start;
  };
  std::set<std::string> launched;
  for (const LoadedEvent& event : events)
    if (!event.is_device && is_kept(event)) launched.insert(event.correlation);
  std::erase_if(events, [&](const LoadedEvent& event) {
    return event.is_device ? !launched.contains(event.correlation) : !is_kept(event);
  });
}

std::string quoted(const std::string& text) {
  Json value;
  value.kind = Json::Kind::string;
  value.text = text;
  return oracle::canonical_text(value);
}

std::string write_events(const std::vector<LoadedEvent>& events) {
  std::string text = "[";
  for (const LoadedEvent& event : events) {
    text += text.size() > 1 ? ",\n" : "\n";
    // If an event is no longer than the rounding, its end is before its start in HTA; here it lasts
    // 0 us.
    const double duration = std::max(0.0, event.end - event.ts);
    char times[80];
    std::snprintf(times, sizeof times, "\"ts\":%.3f,\"dur\":%.3f", event.ts, duration);
    text += "{\"ph\":\"X\",\"name\":" + quoted(text_at(*event.json, "name")) +
            ",\"cat\":" + quoted(text_at(*event.json, "cat")) + "," + times;
    for (const char* const key : {"pid", "tid", "args"})
      if (const Json* const value = event.json->find(key))
        text += ",\"" + std::string(key) + "\":" + oracle::canonical_text(*value);
    text += "}";
  }
  return text + "\n]\n";
}

std::string load_as_hta(const std::string& path, bool with_last, bool rounded) {
  const Json document = oracle::parse_json(oracle::load(path).text);
  const Json* const list = document.find("traceEvents");
  std::vector<LoadedEvent> events = read_events(list != nullptr ? *list : document, rounded);
  keep_steps(events, with_last);
  return write_events(events);
}

}  // namespace

TruthRow as_hta_loads(const TruthRow& row) {
  static const TemporaryFolder folder;
  static std::map<std::string, std::string> known;
  const bool with_last = row.note.find("include_last_profiler_step=False") == std::string::npos;
  // Bandwidths are values of the events, which rounding does not change.
  const bool rounded = row.metric != "hta_memory_bw_summary_gbps";
  TruthRow loaded = row;
  for (std::string& path : loaded.traces) {
    const std::string key = path + (with_last ? " 1" : " 0") + (rounded ? " 1" : " 0");
    const auto [entry, is_new] = known.try_emplace(key);
    if (is_new)
      entry->second = folder.write("loaded" + std::to_string(known.size()) + ".json",
                                   load_as_hta(path, with_last, rounded));
    path = entry->second;
  }
  return loaded;
}

}  // namespace traceloom
