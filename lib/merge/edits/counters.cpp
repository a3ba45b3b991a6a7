#include "merge/edits/counters.h"

#include "base/json_check.h"
#include "base/json_walk.h"
#include "scan/event_repair.h"

#include <map>
#include <set>
#include <utility>

namespace traceloom {
namespace {

constexpr char kPart = '\x1f';

bool is_number(std::string_view value) {
  const std::string_view text = unquoted(value);
  return is_json_number(text) && is_strict_json(text);
}

bool has_number(std::string_view args) {
  bool found = false;
  for_each_member(
      args, [&](std::string_view, std::string_view value) { found = found || is_number(value); });
  return found;
}

}  // namespace

std::string_view counter_key(const Event& event, std::string& scratch) {
  scratch = canonical_id(event.text(Key::pid));
  scratch += kPart;
  scratch += decoded(event.text(Key::name));
  scratch += kPart;
  scratch += unquoted(canonical_id(event.text(event.has(Key::id) ? Key::id : Key::id2)));
  return scratch;
}

bool has_counter_value(const Event& event) {
  const std::string_view args = event.text(Key::args);
  if (event.flags.strict) return has_number(args);
  std::string scratch;
  return has_number(strict_value(args, scratch));
}

std::string numbers_of_counter(std::string_view args) {
  bool is_clean = true;
  for_each_member(args, [&](std::string_view, std::string_view value) {
    is_clean = is_clean && is_number(value);
  });
  if (is_clean) return {};
  std::string numbers;
  for_each_member(args, [&](std::string_view key, std::string_view value) {
    if (!is_number(value)) return;
    numbers += numbers.empty() ? "{\"" : ",\"";
    numbers += key;
    numbers += "\":";
    numbers += value;
  });
  return numbers.empty() ? "{}" : numbers + "}";
}

void name_counters(const std::vector<FileSurvey>& surveys, MergePlan& plan) {
  // The titles of the processes that have a counter, by (pid in the merge, name and id).
  std::map<std::pair<std::string, std::string>, std::set<std::string>> owners;
  const auto visit_all = [&](const auto& visit) {
    for (std::size_t file = 0; file < surveys.size(); ++file)
      for (const std::string& key : surveys[file].counters) {
        const std::size_t pid_size = key.find(kPart);
        const ProcessTarget* const process = plan.tracks.process(file, key.substr(0, pid_size));
        if (process == nullptr) continue;
        visit(plan.files[file], key, process->title,
              owners[{process->pid, key.substr(pid_size + 1)}]);
      }
  };
  visit_all([](FilePlan&, const std::string&, const std::string& title,
               std::set<std::string>& titles) { titles.insert(title); });
  visit_all([](FilePlan& file, const std::string& key, const std::string& title,
               const std::set<std::string>& titles) {
    if (titles.size() > 1 && !title.empty()) file.counter_suffixes[key] = " [" + title + "]";
  });
}

}  // namespace traceloom
