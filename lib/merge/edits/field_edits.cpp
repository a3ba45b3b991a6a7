#include "merge/edits/field_edits.h"

#include "base/ascii.h"
#include "base/json_string.h"
#include "base/json_walk.h"
#include "merge/facts/ids.h"
#include "scan/event_repair.h"

#include <fmt/format.h>

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

std::string counter_key(std::int64_t pid, std::string_view name) {
  return fmt::format("{}{}{}{}", pid, kPart, name, kPart);
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
  std::string text;
  JsonParts numbers(text, '{');
  for_each_member(args, [&](std::string_view key, std::string_view value) {
    if (is_number(value)) numbers.add(key, value);
  });
  numbers.close();
  return text;
}

void name_counters(MergePlan& plan) {
  // The titles of the processes that have a counter, by (pid in the merge, name and id).
  std::map<std::pair<std::string, std::string>, std::set<std::string>> owners;
  const auto visit_all = [&](const auto& visit) {
    for (std::size_t file = 0; file < plan.files.size(); ++file)
      for (std::uint32_t i = 0; i < plan.surveys[file].counters.size(); ++i) {
        const std::string key(plan.surveys[file].counters[i]);
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

namespace {

// True if JavaScript takes the value for false.
bool is_false(std::string_view value) {
  return value == "null" || value == "false" || value == "\"\"" ||
         (is_json_number(value) && value.find_first_of("123456789") == std::string_view::npos);
}

// True if catapult has a color of that name.
bool is_color(std::string_view value) {
  return is_json_string(value) &&
         is_any_of(decoded(value), "background_memory_dump", "bad", "black", "cq_build_abandoned",
                   "cq_build_attempt_failed", "cq_build_attempt_passed", "cq_build_attempt_runnig",
                   "cq_build_failed", "cq_build_passed", "cq_build_running", "detailed_memory_dump",
                   "generic_work", "good", "grey", "heap_dump_child_node_arrow",
                   "heap_dump_object_type", "heap_dump_stack_frame", "light_memory_dump", "olive",
                   "rail_animation", "rail_idle", "rail_load", "rail_response", "startup",
                   "terrible", "thread_state_iowait", "thread_state_runnable",
                   "thread_state_running", "thread_state_sleeping", "thread_state_uninterruptible",
                   "thread_state_unknown", "vsync_highlight_color", "white", "yellow");
}

// True for metadata whose args catapult reads, except those that a merge writes itself.
bool reads_args_of(std::string_view name) {
  return is_any_of(name, "num_cpus", "process_uptime_seconds", "stackFrames", "typeNames",
                   "TraceConfig");
}

class FieldEditor {
 public:
  FieldEditor(const EditedEvent& event, EventEdit& edit, ProblemCounts& problems)
      : all_(event), event_(event.event), clean_(event.clean), edit_(edit), problems_(problems) {}

  void run() {
    if (!edit_text(Key::name, "source_name") && (needs_name(event_.phase) || is_lone_step()))
      add_none(Key::name);
    if (!edit_text(Key::cat, "source_cat") && is_flow_phase(event_.phase)) add_none(Key::cat);
    edit_color();
    edit_number(Key::tts, "source_tts");
    const bool is_half = all_.joins_slices && (event_.phase == 'B' || event_.phase == 'E');
    if (!is_half) {
      edit_number(Key::tdur, "source_tdur");
      if (event_.phase != 'X') edit_number(Key::dur, "source_dur");
    }
    edit_flag(Key::flow_in);
    edit_flag(Key::flow_out);
    edit_frame(Key::sf);
    if (!is_half || event_.phase == 'E') edit_frame(Key::esf);
    if (clean_.has(Key::id2)) edit_id2();
    edit_phase();
  }

 private:
  // Catapult imports nothing at all if one of these is no string. Statistics, too, take anything
  // else for no name and no category. Returns false if there is none after the edit.
  bool edit_text(Key key, std::string_view other_name) {
    const std::string_view value = clean_.text(key);
    if (value.empty()) return false;
    if (is_json_string(value)) return true;
    edit_.rename(key, other_name);
    note_field();
    return false;
  }

  // Catapult rejects the whole file if one of these is missing.
  void add_none(Key key) {
    edit_.insert(key, kQuotedNoName);
    note_field();
  }

  // Catapult rejects the whole file for an unknown color name.
  void edit_color() {
    const std::string_view value = clean_.text(Key::cname);
    if (value.empty() || is_false(value) || is_color(value)) return;
    edit_.rename(Key::cname, "source_cname");
    note_field();
  }

  // Catapult rejects the whole file if one of these events has no args.
  void add_args() {
    const std::string_view args = clean_.text(Key::args);
    if (!args.empty() && args != "null") return;
    edit_.set(Key::args, "{}");
    note_field();
  }

  // Perfetto stops reading the whole file at an event where this is no number.
  void edit_number(Key key, std::string_view other_name) {
    const std::string_view value = clean_.text(key);
    if (value.empty() || is_json_number(value)) return;
    const std::string_view text = unquoted(value);
    if (is_json_number(text) && is_strict_json(text)) return edit_.replace(key, text);
    edit_.rename(key, other_name);
    note_field();
  }

  // Perfetto wants true or false, catapult anything that is true for JavaScript.
  void edit_flag(Key key) {
    const std::string_view value = clean_.text(key);
    if (value.empty() || value == "true" || value == "false") return;
    edit_.replace(key, is_false(value) || value == "\"false\"" ? "false" : "true");
    note_field();
  }

  void edit_frame(Key key) {
    const std::string_view value = clean_.text(key);
    if (value.empty() || value == "null") return;
    std::string id;
    all_.file.frames.append_to(id, value);
    edit_.replace(key, id);
  }

  // Renames an id2 that means nothing. Ids of async and flow events and of objects are edited in
  // event_edit.h.
  void edit_id2() {
    const bool has_id_of_its_own =
        is_async(event_) || is_flow_phase(event_.phase) || is_object_phase(event_.phase);
    std::string scratch;
    if (has_id_of_its_own && !flow_id_key(event_, scratch).empty()) {
      if (event_.has(Key::id)) note_field();
      return;
    }
    if (!event_.has(Key::id) && !is_empty_id2(event_.text(Key::id2))) return;
    edit_.rename(Key::id2, "source_id2");
    note_field();
  }

  // True for a T that is neither an async event nor a thread state: no viewer shows it.
  bool is_lone_step() const {
    return event_.phase == 'T' && !event_.has(Key::id) && !event_.has(Key::id2) &&
           !event_.has(Key::dur);
  }

  void edit_phase() {
    switch (event_.phase) {
      case 'i':
      case 'I':
      case 'R':
        return edit_instant_scope();
      case 'C':
        return edit_counter();
      case 'c':
        return replace_args(move_clock_sync(clean_.text(Key::args), all_.time));
      case 'P':
        add_args();
        return replace_args(move_profile(clean_.text(Key::args), all_.time));
      case 'v':
        add_args();
        return replace_args(rename_heaps(clean_.text(Key::args), all_.file.frames, pid()));
      case 'M':
        if (reads_args_of(decoded(event_.text(Key::name)))) add_args();
        return replace_args(rename_dictionaries(clean_.text(Key::args), all_.file.frames, pid()));
      case 'T':
        if (is_lone_step()) edit_.replace(Key::ph, "\"i\"");
        return;
      default:
        return;
    }
  }

  // Viewers drop an instant of a scope that they do not know.
  void edit_instant_scope() {
    const std::string_view scope = clean_.text(Key::s);
    if (scope.empty() || scope == "\"t\"" || scope == "\"p\"" || scope == "\"g\"") return;
    edit_.replace(Key::s, "\"t\"");
    note_field();
  }

  // Perfetto accepts an id only if it is text.
  void edit_counter() {
    const std::string_view id = clean_.text(Key::id);
    if (!id.empty() && id != "null" && !is_json_string(id)) {
      edit_.replace(Key::id, json_string(canonical_id(id)));
    } else if (id.empty() && clean_.has(Key::id2) && !is_empty_id2(event_.text(Key::id2))) {
      const std::string_view id2 = clean_.text(Key::id2);
      const std::string_view local = find_member(id2, "local");
      edit_.rename(Key::id2, "id");
      edit_.replace(Key::id2,
                    json_string(decoded(local.empty() ? find_member(id2, "global") : local)));
    }
    if (!all_.file.counter_suffixes.empty()) edit_counter_name();
    const std::string numbers = numbers_of_counter(clean_.text(Key::args));
    if (numbers.empty()) return;
    problems_.add(Problem::bad_counter, event_.offset);
    replace_args(numbers);
  }

  void edit_counter_name() {
    std::string scratch;
    const auto found = all_.file.counter_suffixes.find(counter_key(event_, scratch));
    if (found == all_.file.counter_suffixes.end()) return;
    std::string name;
    append_json_string(name, decoded(clean_.text(Key::name)) + found->second);
    edit_.set(Key::name, name);
  }

  // Keeps the args if `args` is empty.
  void replace_args(const std::string& args) {
    if (!args.empty()) edit_.replace(Key::args, args);
  }
  std::string pid() const { return canonical_id(event_.text(Key::pid)); }
  void note_field() {
    if (has_noted_) return;
    has_noted_ = true;
    problems_.add(Problem::bad_field, event_.offset);
  }

  const EditedEvent& all_;
  const Event& event_;
  const Event& clean_;
  EventEdit& edit_;
  ProblemCounts& problems_;
  bool has_noted_ = false;
};

}  // namespace

void edit_fields(const EditedEvent& event, EventEdit& edit, ProblemCounts& problems) {
  FieldEditor(event, edit, problems).run();
}

void edit_object_refs(const EditedEvent& event, EventEdit& edit) {
  const std::string_view args = event.clean.text(Key::args);
  if (args.empty() || edit.text(Key::args).data() != args.data()) return;
  const std::string pid = canonical_id(event.event.text(Key::pid));
  const std::string_view scope = event.clean.text(Key::scope);
  const std::string renamed = rename_object_refs(args, event.event.phase == 'O', event.file, pid,
                                                 scope.empty() ? kDefaultScope : scope);
  if (!renamed.empty()) edit.replace(Key::args, renamed);
}

}  // namespace traceloom
