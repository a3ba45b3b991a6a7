#include "oracle/memory.h"

#include "oracle/json_value.h"

#include <algorithm>

namespace traceloom::oracle {
namespace {

struct Span {
  std::string name;
  std::string tid;
  std::int64_t from_us;
  std::int64_t to_us;
};

std::int64_t number(const Json& object, const std::string& key) {
  return std::stoll(object.find(key)->text);
}

std::vector<Span> read_spans(const Json& events) {
  std::vector<Span> spans;
  for (const Json& event : events.items)
    if (event.find("ph")->text == "X")
      spans.push_back({event.find("name")->text, event.find("tid")->text, number(event, "ts"),
                       number(event, "ts") + number(event, "dur")});
  return spans;
}

struct MemoryEvent {
  std::int64_t device;
  std::int64_t at_us;
  std::int64_t bytes;
  std::int64_t address;
  std::int64_t total;
  std::vector<std::string> around;  // operators, the innermost first
};

std::vector<MemoryEvent> read_memory(const Json& events) {
  const std::vector<Span> spans = read_spans(events);
  std::vector<MemoryEvent> found;
  for (const Json& event : events.items) {
    if (event.find("name")->text != "[memory]") continue;
    const Json& args = *event.find("args");
    const std::int64_t at = number(event, "ts");
    std::vector<Span> around;
    for (const Span& span : spans)
      if (span.tid == event.find("tid")->text && span.from_us <= at && at < span.to_us)
        around.push_back(span);
    // A span that begins later or ends earlier is inside; of two equal spans the later one in the
    // file is.
    std::reverse(around.begin(), around.end());
    std::stable_sort(around.begin(), around.end(), [](const Span& a, const Span& b) {
      return std::pair{-a.from_us, a.to_us} < std::pair{-b.from_us, b.to_us};
    });
    MemoryEvent one{number(args, "Device Id"),       at,
                    number(args, "Bytes"),           number(args, "Addr"),
                    number(args, "Total Allocated"), {}};
    for (const Span& span : around) one.around.push_back(span.name);
    found.push_back(one);
  }
  return found;
}

// True if the memory of events[i] is still allocated after events[last].
bool is_held(const std::vector<MemoryEvent>& events, std::size_t i, std::size_t last) {
  for (std::size_t j = i + 1; j <= last; ++j)
    if (events[j].address == events[i].address) return false;
  return events[i].bytes > 0 && i <= last;
}

DeviceBytes describe(const std::vector<MemoryEvent>& events) {
  DeviceBytes device;
  device.start = device.peak = events.front().total - events.front().bytes;
  device.end = events.back().total;
  std::size_t highest = events.size();
  for (std::size_t i = 0; i < events.size(); ++i)
    if (events[i].total > device.peak) {
      device.peak = events[i].total;
      highest = i;
    }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const MemoryEvent& event = events[i];
    const std::int64_t given = std::max<std::int64_t>(0, event.bytes);
    OperatorBytes& self =
        device.operators[event.around.empty() ? "(no operator)" : event.around.front()];
    self.self_increase += event.bytes;
    self.self_alloc += given;
    self.self_count += given > 0 ? 1 : 0;
    if (highest < events.size() && is_held(events, i, highest)) self.at_peak += given;
    if (is_held(events, i, events.size() - 1)) self.unfreed += given;
    for (const std::string& name : event.around) {
      OperatorBytes& total = device.operators[name];
      total.increase += event.bytes;
      total.alloc += given;
      total.count += given > 0 ? 1 : 0;
    }
  }
  return device;
}

struct Reading {
  std::int64_t from_us;
  std::int64_t to_us;
  double value;
};

std::vector<Reading> read_counter(const Json& events, const std::string& name, CounterKind kind) {
  std::vector<std::pair<std::int64_t, double>> points;
  for (const Json& event : events.items)
    if (event.find("name")->text == name)
      points.emplace_back(number(event, "ts"), std::stod(event.find("args")->items.at(0).text));
  std::sort(points.begin(), points.end());
  std::vector<Reading> readings;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto [at, value] = points[i];
    const std::int64_t before = i == 0 ? at : points[i - 1].first;
    const std::int64_t after = i + 1 == points.size() ? at : points[i + 1].first;
    if (kind == CounterKind::level) readings.push_back({at, after, value});
    if (kind == CounterKind::load) readings.push_back({before, at, value});
    if (kind == CounterKind::total && i > 0 && at > before && value >= points[i - 1].second)
      readings.push_back(
          {before, at, (value - points[i - 1].second) * 1e6 / static_cast<double>(at - before)});
  }
  return readings;
}

// The mean over all microseconds for which `is` holds, of the readings that they are in.
template <typename Is>
double mean_where(const std::vector<Reading>& readings, Is is) {
  double sum = 0;
  double count = 0;
  for (const Reading& reading : readings)
    for (std::int64_t us = reading.from_us; us < reading.to_us; ++us)
      if (is(us)) {
        sum += reading.value;
        ++count;
      }
  return count == 0 ? -1 : sum / count;
}

}  // namespace

std::map<std::int64_t, DeviceBytes> find_memory(const std::string& trace) {
  std::map<std::int64_t, std::vector<MemoryEvent>> by_device;
  for (const MemoryEvent& event : read_memory(parse_json(trace)))
    by_device[event.device].push_back(event);
  std::map<std::int64_t, DeviceBytes> devices;
  for (const auto& [device, events] : by_device) devices[device] = describe(events);
  return devices;
}

CounterNumbers find_counter(const std::string& trace, const std::string& name, CounterKind kind) {
  const Json events = parse_json(trace);
  const std::vector<Reading> readings = read_counter(events, name, kind);
  CounterNumbers numbers;
  numbers.samples = readings.size();
  if (readings.empty()) return numbers;
  std::vector<double> values;
  for (const Reading& reading : readings) values.push_back(reading.value);
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  numbers.mean = kind == CounterKind::total
                     ? mean_where(readings, [](std::int64_t) { return true; })
                     : sum / static_cast<double>(values.size());
  numbers.p50 = values[(values.size() + 1) / 2 - 1];
  numbers.p99 = values[(values.size() * 99 + 99) / 100 - 1];
  const std::vector<Span> spans = read_spans(events);
  const auto is_in = [&](std::int64_t us, const std::string& start) {
    return std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
      return span.name.rfind(start, 0) == 0 && span.from_us <= us && us < span.to_us;
    });
  };
  const auto waits = [&](std::int64_t us) { return is_in(us, "enumerate(DataLoader)#"); };
  numbers.during = mean_where(readings, waits);
  numbers.elsewhere = mean_where(
      readings, [&](std::int64_t us) { return is_in(us, "ProfilerStep#") && !waits(us); });
  return numbers;
}

}  // namespace traceloom::oracle
