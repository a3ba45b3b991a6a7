#include "oracle/filter.h"

#include "oracle/exact_time.h"
#include "oracle/json_value.h"

#include <algorithm>
#include <tuple>

namespace traceloom::oracle {
namespace {

std::string text_of(const Json& event, const char* key) {
  const Json* value = event.find(key);
  return value == nullptr ? "" : value->text;
}

std::int64_t ns_of(const Json& event, const char* key) {
  const Json* value = event.find(key);
  return value == nullptr ? 0 : round_to_ns(parse_microseconds(value->text).value_or(0));
}

// Returns the value as it is written: a missing category differs from an empty one.
std::string label_of(const Json& event, const char* key) {
  const Json* value = event.find(key);
  return value == nullptr ? "" : canonical_text(*value);
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_category(std::string list, const std::vector<std::string>& wanted) {
  if (list.empty()) list = "(none)";
  list += ',';
  for (std::size_t begin = 0, end = 0; begin < list.size(); begin = end + 1) {
    end = list.find(',', begin);
    if (contains(wanted, list.substr(begin, end - begin))) return true;
  }
  return false;
}

bool has_name(const std::string& name, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

struct Event {
  const Json* json;
  char phase;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::string track;  // pid and tid
  bool kept;
  const Event* begin = nullptr;  // set for an E
  std::string new_phase = {};    // set for a step whose arrows are cut apart

  bool is_slice() const { return phase == 'X' || phase == 'B'; }
  bool is_flow() const { return phase == 's' || phase == 't' || phase == 'f'; }
  bool is_operation() const { return std::string("beSTpF").find(phase) != std::string::npos; }
};

bool is_excluded(const Event& event, const Filter& filter) {
  const Json* name = event.json->find("name");
  return has_category(text_of(*event.json, "cat"), filter.excluded_categories) ||
         has_name(name == nullptr ? "(none)" : name->text, filter.excluded_names);
}

// Decides about an event without regard to other events.
bool accepts(const Event& event, const Filter& filter) {
  const Json& json = *event.json;
  const std::int64_t rank = std::stoll(text_of(json, "pid"));
  if (!filter.ranks.empty() &&
      std::find(filter.ranks.begin(), filter.ranks.end(), rank) == filter.ranks.end())
    return false;
  if (const auto windows = filter.windows.find(rank); windows != filter.windows.end())
    if (std::none_of(windows->second.begin(), windows->second.end(), [&](const auto& window) {
          return event.start_ns >= window.first && event.start_ns < window.second;
        }))
      return false;
  if (event.is_slice() && event.end_ns - event.start_ns < filter.min_duration_ns) return false;
  const Json* name = json.find("name");
  if (!filter.names.empty() && !has_name(name == nullptr ? "(none)" : name->text, filter.names))
    return false;
  if (!filter.categories.empty() && !has_category(text_of(json, "cat"), filter.categories))
    return false;
  return !is_excluded(event, filter);
}

// Returns the slice to which viewers bind a flow event; of several at the same time, one that
// stays.
const Event* find_slice(const Event& flow, const std::vector<Event>& events) {
  const bool is_next = flow.phase == 'f' && text_of(*flow.json, "bp") != "e";
  const Event* best = nullptr;
  const auto order = [&](const Event& event) {
    return is_next ? std::tuple(-event.start_ns, event.end_ns, event.kept)
                   : std::tuple(event.start_ns, -event.end_ns, event.kept);
  };
  for (const Event& event : events) {
    if (!event.is_slice() || event.track != flow.track) continue;
    const bool fits = is_next ? event.start_ns >= flow.start_ns
                              : event.start_ns <= flow.start_ns && event.end_ns >= flow.start_ns;
    if (fits && (best == nullptr || order(event) > order(*best))) best = &event;
  }
  return best;
}

using Group = std::vector<Event*>;

void sort_by_time(Group& group) {
  std::stable_sort(group.begin(), group.end(),
                   [](const Event* a, const Event* b) { return a->start_ns < b->start_ns; });
}

// One after the other: an arrow is there when both its ends are, an end when one of its arrows is.
void settle_chain(const Group& chain) {
  std::vector<bool> had(chain.size() + 1);  // an arrow to the event of that number
  std::vector<bool> has(chain.size() + 1);
  for (std::size_t i = 1; i < chain.size(); ++i) {
    had[i] = chain[i - 1]->phase != 'f' && chain[i]->phase != 's';
    has[i] = had[i] && chain[i - 1]->kept && chain[i]->kept;
  }
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (had[i] || had[i + 1]) chain[i]->kept = has[i] || has[i + 1];
    if (had[i] && !has[i]) chain[i]->new_phase = "s";
    if (had[i + 1] && !has[i + 1]) chain[i]->new_phase = "f";
    if (chain[i]->phase != 't' || !had[i] || !had[i + 1]) chain[i]->new_phase.clear();
  }
}

// Splits a flow into arrows: each start with the events up to the next start. The events before the
// first start form an arrow of their own.
void settle_flows(Group group) {
  sort_by_time(group);
  std::vector<Group> arrows(1);
  bool has_start = false;
  for (Event* event : group) {
    if (event->phase == 's' && has_start) arrows.emplace_back();
    has_start |= event->phase == 's';
    arrows.back().push_back(event);
  }
  for (const Group& arrow : arrows) {
    const auto starts =
        std::count_if(arrow.begin(), arrow.end(), [](const Event* e) { return e->phase == 's'; });
    if (starts == 0 || starts == static_cast<std::ptrdiff_t>(arrow.size())) continue;
    if (std::any_of(arrow.begin(), arrow.end(), [](const Event* e) { return e->phase == 't'; })) {
      settle_chain(arrow);
      continue;
    }
    const bool start = std::any_of(arrow.begin(), arrow.end(),
                                   [](const Event* e) { return e->phase == 's' && e->kept; });
    const bool end = std::any_of(arrow.begin(), arrow.end(),
                                 [](const Event* e) { return e->phase != 's' && e->kept; });
    if (!start || !end)
      for (Event* event : arrow) event->kept = false;
  }
}

void settle_operations(Group group) {
  sort_by_time(group);
  Group open;
  for (Event* event : group) {
    if (event->phase == 'b' || event->phase == 'S') {
      open.push_back(event);
      continue;
    }
    const bool any_name = event->json->find("name") == nullptr;
    const auto begin = std::find_if(open.rbegin(), open.rend(), [&](const Event* start) {
      return any_name || text_of(*start->json, "name") == text_of(*event->json, "name");
    });
    if (begin == open.rend()) continue;
    event->kept = (*begin)->kept;
    if (event->phase == 'e' || event->phase == 'F') open.erase(std::next(begin).base());
  }
}

void set(Json& object, const std::string& key, const std::string& text) {
  for (std::size_t i = 0; i < object.keys.size(); ++i)
    if (object.keys[i] == key) {
      object.items[i].text = text;
      return;
    }
  object.keys.push_back(key);
  object.items.push_back({Json::Kind::string, text, {}, {}});
}

std::string written_text(const Event& event) {
  Json json = *event.json;
  if (!event.new_phase.empty()) set(json, "ph", event.new_phase);
  if (event.new_phase == "f") set(json, "bp", "e");
  return canonical_text(json);
}

std::vector<Event> read_events(const Json& document) {
  std::vector<Event> events;
  for (const Json& json : document.find("traceEvents")->items) {
    const char phase = text_of(json, "ph").front();
    if (phase == 'M') continue;
    const std::int64_t start_ns = ns_of(json, "ts");
    const std::int64_t duration_ns = phase == 'X' ? ns_of(json, "dur") : 0;
    events.push_back({&json, phase, start_ns, start_ns + duration_ns,
                      text_of(json, "pid") + " " + text_of(json, "tid"), false});
  }
  return events;
}

void pair_begin_end(std::vector<Event>& events) {
  std::map<std::string, Group> threads;
  for (Event& event : events)
    if (event.phase == 'B' || event.phase == 'E') threads[event.track].push_back(&event);
  for (auto& [track, thread] : threads) {
    sort_by_time(thread);
    Group open;
    for (Event* event : thread) {
      if (event->phase == 'B') {
        open.push_back(event);
        continue;
      }
      const Json* name = event->json->find("name");
      const auto begin = std::find_if(open.rbegin(), open.rend(), [&](const Event* start) {
        return name == nullptr || text_of(*start->json, "name") == name->text;
      });
      (*begin)->end_ns = event->start_ns;
      event->begin = *begin;
      open.erase(std::next(begin).base());
    }
  }
}

}  // namespace

std::vector<std::string> filter_events(const std::string& merged, const Filter& filter) {
  const Json document = parse_json(merged);
  std::vector<Event> events = read_events(document);
  pair_begin_end(events);
  for (Event& event : events) event.kept = accepts(event, filter);
  for (Event& event : events)
    if (event.phase == 'E') event.kept = event.begin->kept;
  std::map<std::string, Group> flows;
  std::map<std::string, Group> operations;
  for (Event& event : events) {
    const Json& json = *event.json;
    const Json* id2 = json.find("id2");
    const std::string id =
        text_of(json, "id") + " " + (id2 == nullptr ? "" : canonical_text(*id2)) + " ";
    if (event.is_flow()) {
      if (const Event* slice = find_slice(event, events))
        event.kept = slice->kept && !is_excluded(event, filter);
      flows[id + label_of(json, "cat") + label_of(json, "name")].push_back(&event);
    } else if (event.is_operation()) {
      const bool is_nestable = event.phase == 'b' || event.phase == 'e';
      const std::string own = label_of(json, is_nestable ? "cat" : "name");
      operations[id + (is_nestable ? "n" : "l") + own + label_of(json, "scope") +
                 text_of(json, "pid")]
          .push_back(&event);
    }
  }
  for (const auto& [id, group] : flows) settle_flows(group);
  for (const auto& [id, group] : operations) settle_operations(group);
  std::vector<std::string> kept;
  for (const Event& event : events)
    if (event.kept) kept.push_back(written_text(event));
  return kept;
}

}  // namespace traceloom::oracle
