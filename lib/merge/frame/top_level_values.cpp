#include "merge/frame/top_level_values.h"

#include "base/ascii.h"
#include "base/json_string.h"
#include "base/json_walk.h"
#include "event/event_timing.h"
#include "json/json_document.h"
#include "merge/facts/ids.h"
#include "output/json_writer.h"
#include "scan/event_repair.h"

#include <algorithm>
#include <array>

namespace traceloom {
namespace {

// True for settings of a torch.profiler run and facts of its host.
bool is_run_key(std::string_view key) {
  static constexpr std::array<std::string_view, 6> kPrefixes{"cuda_",      "cupti_", "hip_",
                                                             "roctracer_", "tw_",    "mast_"};
  return is_any_of(key, "schemaVersion", "traceName", "trace_id", "record_shapes", "with_stack",
                   "with_flops", "with_modules", "profile_memory", "host_name", "username", "INFO",
                   "ERROR", "deviceProperties") ||
         std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return key.starts_with(prefix); });
}

// What a merge does with a value that stands next to the event list of an input.
enum class TopLevelRule : std::uint8_t {
  own,         // the merge writes it itself, or has used it up
  run,         // describes the run: stays where it is if all files say the same
  frames,      // stackFrames: all in one dictionary
  samples,     // samples: all in one list
  dictionary,  // VizTracer's: values that do not contradict, in one dictionary
  metadata,    // Chromium's: what catapult reads of it stays if all files say the same
  subtrace,    // another trace in another form; its times cannot be moved
  other_data,  // otherData of a merge: what it says of its ranks is kept
  rank,        // anything else: under otherData.ranks
};
TopLevelRule rule_of(std::string_view key) {
  if (is_any_of(key, "traceEvents", "displayTimeUnit", "baseTimeNanoseconds", "beginningOfTime",
                "controllerTraceDataKey"))
    return TopLevelRule::own;
  if (key == "stackFrames") return TopLevelRule::frames;
  if (key == "samples") return TopLevelRule::samples;
  if (key == "viztracer_metadata" || key == "file_info") return TopLevelRule::dictionary;
  if (key == "metadata") return TopLevelRule::metadata;
  if (is_any_of(key, "systemTraceEvents", "powerTraceAsString", "androidProcessDump", "cgroupDump",
                "traceAnnotations"))
    return TopLevelRule::subtrace;
  if (key == "otherData") return TopLevelRule::other_data;
  return is_run_key(key) ? TopLevelRule::run : TopLevelRule::rank;
}

// True for the members of `metadata` that catapult reads.
bool is_kept_metadata(std::string_view key) {
  return key == "clock-domain" || key == "highres-ticks";
}

// Returns false for a systemTraceEvents that is no text: Perfetto stops at it.
bool is_kept_subtrace(const TopLevelEntry& entry) {
  return entry.key != "systemTraceEvents" || entry.value.starts_with('"');
}

bool is_empty_value(std::string_view value) {
  return value == "\"\"" || value == "null" || value == "{}" || value == "[]";
}

void add_samples(FileSurvey& survey, const TopLevelEntry& entry) {
  for_each_element(entry.value, [&](std::string_view sample) {
    const std::optional<std::int64_t> time = time_sample(sample);
    if (!time) return survey.problems.add(Problem::bad_timestamp, entry.offset);
    survey.starts.add(*time);
    survey.sub_microsecond |= *time % 1000 != 0;
    if (survey.evidence.was_merged_by_us()) survey.add_frame(find_member(sample, "sf"));
  });
}

void make_strict(TopLevelEntry& entry, ProblemCounts& problems) {
  if (is_strict_json(entry.value)) return;
  if (std::optional<std::string> repaired = repair_value(entry.value, entry.offset, problems)) {
    entry.value = std::move(*repaired);
    return;
  }
  entry.value = json_string(entry.value);
  problems.add(Problem::not_json_value, entry.offset);
}

}  // namespace

std::optional<std::int64_t> time_sample(std::string_view sample) {
  if (!is_json_object(sample)) return std::nullopt;
  const std::optional<ParsedTime> time = parse_time(find_member(sample, "ts"));
  if (!time) return std::nullopt;
  return time->rounded_ns();
}

SampledTracks::SampledTracks(const std::vector<TrackFacts>& tracks) {
  for (const TrackFacts& track : tracks) add(track);
}

void SampledTracks::add(const TrackFacts& track) {
  const auto [found, is_new] = threads_[canonical_id(track.tid)].try_emplace(
      canonical_id(track.pid), Thread{tracks_, track.events});
  if (!is_new) found->second.events += track.events;
  ++tracks_;
}

std::optional<std::size_t> SampledTracks::find(std::string_view pid, std::string_view tid) const {
  const auto same_tid = threads_.find(canonical_id(tid));
  if (same_tid == threads_.end()) return std::nullopt;
  if (!pid.empty()) {
    const auto found = same_tid->second.find(canonical_id(pid));
    if (found == same_tid->second.end()) return std::nullopt;
    return found->second.track;
  }
  const auto busiest = std::ranges::max_element(same_tid->second, [](const auto& a, const auto& b) {
    return a.second.events < b.second.events;
  });
  return busiest->second.track;
}

namespace {

// Returns the pid for samples that name no process: they most likely belong to the busiest one.
std::string busiest_pid(const std::vector<TrackFacts>& tracks) {
  const auto busiest = std::ranges::max_element(
      tracks, [](const TrackFacts& a, const TrackFacts& b) { return a.events < b.events; });
  return busiest == tracks.end() ? "" : busiest->pid;
}

}  // namespace

void mark_sampled_tracks(std::string_view samples, std::vector<TrackFacts>& tracks) {
  SampledTracks known(tracks);
  const std::string usual_pid = busiest_pid(tracks);
  for_each_element(samples, [&](std::string_view sample) {
    if (!time_sample(sample)) return;
    const std::string_view pid = find_member(sample, "pid");
    const std::string_view tid = find_member(sample, "tid");
    if (const std::optional<std::size_t> track = known.find(pid, tid)) {
      tracks[*track].has_samples = true;
      return;
    }
    TrackFacts& track = tracks.emplace_back();
    track.pid = pid.empty() ? usual_pid : pid;
    track.tid = tid;
    track.has_samples = true;
    known.add(track);
  });
}

void survey_top_level(FileSurvey& survey) {
  for (TopLevelEntry& entry : survey.top_level) {
    make_strict(entry, survey.problems);
    if (entry.key == "displayTimeUnit" && entry.value != "\"ms\"" && entry.value != "\"ns\"")
      survey.problems.add(Problem::bad_time_unit, entry.offset);
    if (entry.key == "samples") {
      add_samples(survey, entry);
      mark_sampled_tracks(entry.value, survey.tracks);
    }
    if (entry.key == "stackFrames" && survey.evidence.was_merged_by_us())
      for_each_member(entry.value, [&](std::string_view id, std::string_view) {
        survey.add_frame(std::string("\"").append(id) + '"');
      });
  }
}

void plan_subtraces(MergePlan& plan) {
  const std::vector<FileSurvey>& surveys = plan.surveys;
  std::vector<std::size_t> owners;
  for (std::size_t file = 0; file < surveys.size(); ++file)
    for (const TopLevelEntry& entry : surveys[file].top_level)
      if (rule_of(entry.key) == TopLevelRule::subtrace && !is_empty_value(entry.value))
        owners.push_back(file);
  const bool has_one_owner =
      std::ranges::all_of(owners, [&](std::size_t file) { return file == owners[0]; });
  for (const std::size_t file : owners)
    plan.files[file].keeps_subtraces = has_one_owner && plan.files[file].times.moves_nothing();
  for (std::size_t file = 0; file < surveys.size(); ++file)
    for (const TopLevelEntry& entry : surveys[file].top_level)
      if (rule_of(entry.key) == TopLevelRule::subtrace && !is_empty_value(entry.value) &&
          !(plan.files[file].keeps_subtraces && is_kept_subtrace(entry)))
        plan.files[file].problems.add(Problem::subtrace_dropped, entry.offset);
}

namespace {

constexpr std::string_view kVizTracerMetadata = "viztracer_metadata";
constexpr std::string_view kBase = "baseTimeNanoseconds";

bool is_viztracer_base(std::string_view key, std::string_view member) {
  return key == kVizTracerMetadata && member == kBase;
}

// Returns whether the plan writes the rank and the time of a sample. To a filter a sample has
// neither a name nor a category.
bool writes_sample(std::string_view sample, const MergePlan& plan, std::size_t file,
                   const TrackTarget* track) {
  const FilePlan& of_file = plan.files[file];
  if (!plan.writes(track != nullptr ? track->rank : of_file.rank.rank)) return false;
  std::int64_t ns = 0;
  return !plan.filter || track == nullptr ||
         !of_file.times.map(time_sample(sample).value_or(0), ns) ||
         plan.filter->is_in_time(track->process, ns);
}

// Appends a sample whose time time_sample() can read, with its time, thread and stack frame.
void append_sample(std::string& out, std::string_view sample, const FilePlan& file,
                   const TrackTarget* track) {
  JsonParts members(out, '{');
  for_each_member(sample, [&](std::string_view key, std::string_view value) {
    if (key == "ts") {
      std::int64_t ns = 0;
      if (!file.times.map(time_sample(sample).value_or(0), ns)) ns = 0;
      append_microseconds(members.next(key), ns);
    } else if (key == "sf" && value != "null") {
      file.frames.append_to(members.next(key), value);
    } else if (key == "tid" && track != nullptr) {
      members.add(key, track->tid);
    } else if (key == "pid" && track != nullptr) {
      members.add(key, track->pid);
    } else {
      members.add(key, value);
    }
  });
  if (find_member(sample, "pid").empty())
    members.add("pid", track != nullptr ? track->pid : std::to_string(file.rank.rank));
  members.close();
}

// The values that stand next to the event lists of the inputs, in the form that the output gives
// them. They may be large (64 MiB a file). They are strict JSON by now, so those that are kept are
// views into the surveys. Frames and samples, the largest, are walked in place; simdjson reads the
// others.
class TopLevelValues {
 public:
  explicit TopLevelValues(const MergePlan& plan)
      : plan_(plan),
        run_values_(plan.files.size()),
        metadata_(plan.files.size()),
        frames_(plan.files.size()),
        samples_(plan.files.size()) {
    for (std::size_t file = 0; file < plan.files.size(); ++file)
      if (is_written(file)) files_.push_back(file);
    for (const std::size_t file : files_) add_file(file);
    keep_run_values();
    kept_metadata_ = find_equal(metadata_);
  }

  void write_kept(PieceWriter& out) const {
    const auto write_key = [&](std::string_view key) {
      out.text() += ",\n";
      append_json_string(out.text(), key);
      out.text() += ": ";
    };
    for (const auto& [key, value] : kept_) {
      write_key(key);
      out.write(value);
    }
    if (!kept_metadata_.empty()) {
      write_key("metadata");
      write_dictionary(out, "metadata", {{{}, kept_metadata_}});
    }
    for (const auto& [key, dictionary] : dictionaries_) {
      write_key(key);
      write_dictionary(out, key, dictionary);
    }
    const auto is_there = [](std::string_view value) { return !value.empty(); };
    if (std::ranges::any_of(frames_, is_there)) {
      write_key("stackFrames");
      write_frames(out);
    }
    if (std::ranges::any_of(samples_, is_there)) {
      write_key("samples");
      write_samples(out);
    }
  }

  void write_ranks(PieceWriter& out) const {
    JsonWriter json(out.text());
    json.begin_object();
    for (const auto& [rank, members] : ranks_) {
      if (!plan_.writes(rank)) continue;
      json.begin_object(std::to_string(rank));
      for (const auto& [key, values] : members) {
        json.key(key);
        if (values.size() > 1) json.begin_array();
        for (const std::string_view value : values) {
          json.raw({});  // the value itself may be large
          out.write(value);
        }
        if (values.size() > 1) json.end_array();
      }
      json.end_object();
    }
    json.end_object();
  }

 private:
  using Members = std::map<std::string_view, std::string_view>;
  using Dictionary = std::map<std::string_view, Members>;  // plain values are under ""

  // Returns the members that every written file has, with the same value in all.
  Members find_equal(const std::vector<Members>& of_files) const {
    Members equal;
    if (files_.empty()) return equal;
    for (const auto& [key, value] : of_files[files_.front()]) {
      const bool is_equal =
          std::ranges::all_of(files_, [&, &key = key, &value = value](std::size_t file) {
            const auto found = of_files[file].find(key);
            return found != of_files[file].end() && found->second == value;
          });
      if (is_equal) equal[key] = value;
    }
    return equal;
  }

  // Adds the values of a file. If a key stands twice, the last value counts; the one that it hides
  // is kept under its rank.
  void add_file(std::size_t file) {
    std::map<std::string_view, const TopLevelEntry*> last;
    for (const TopLevelEntry& entry : plan_.surveys[file].top_level) last[entry.key] = &entry;
    for (const TopLevelEntry& entry : plan_.surveys[file].top_level) {
      if (rule_of(entry.key) == TopLevelRule::own) continue;
      if (last[entry.key] == &entry)
        add_value(file, entry);
      else
        add_rank_value(plan_.files[file].rank.rank, entry.key, entry.value);
    }
  }

  bool is_written(std::size_t file) const {
    const std::vector<std::int64_t>& ranks = plan_.tracks.ranks_of(file);
    return std::ranges::any_of(ranks, [&](std::int64_t rank) { return plan_.writes(rank); });
  }

  void add_value(std::size_t file, const TopLevelEntry& entry) {
    const std::int64_t rank = plan_.files[file].rank.rank;
    const bool merged = plan_.surveys[file].evidence.was_merged_by_us();
    switch (rule_of(entry.key)) {
      case TopLevelRule::run:
        run_values_[file][entry.key] = entry.value;
        return;
      case TopLevelRule::frames:
        if (!is_frame_dictionary(entry.value)) break;
        frames_[file] = entry.value;
        return;
      case TopLevelRule::samples:
        if (!is_json_list(entry.value)) break;
        samples_[file] = entry.value;
        return;
      case TopLevelRule::dictionary:
        if (!is_json_object(entry.value)) break;
        return add_dictionary(file, entry.key, entry.value);
      case TopLevelRule::metadata:
        for_each_member(entry.value, [&](std::string_view key, std::string_view value) {
          if (is_kept_metadata(key)) metadata_[file][key] = value;
        });
        if (merged) return;  // the ranks have the rest of it already
        break;
      case TopLevelRule::subtrace:
        if (plan_.files[file].keeps_subtraces && is_kept_subtrace(entry))
          kept_[entry.key] = entry.value;
        return;
      case TopLevelRule::other_data:
        if (merged) return add_merged_ranks(entry.value);
        break;
      default:
        break;
    }
    add_rank_value(rank, entry.key, entry.value);
  }

  void keep_run_values() {
    const Members equal = find_equal(run_values_);
    for (const std::size_t file : files_)
      for (const auto& [key, value] : run_values_[file])
        if (!equal.contains(key))
          for (const std::int64_t rank : plan_.tracks.ranks_of(file))
            add_rank_value(rank, key, value);
    kept_.insert(equal.begin(), equal.end());
  }

  void add_rank_value(std::int64_t rank, std::string_view key, std::string_view value) {
    std::vector<std::string_view>& values = ranks_[rank][std::string(key)];
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }

  // Takes all or nothing from a file: a dictionary that contradicts an earlier one stays with its
  // rank.
  void add_dictionary(std::size_t file, std::string_view key, std::string_view value) {
    Dictionary& all = dictionaries_[key];
    Dictionary added;
    bool contradicts = false;
    const auto add = [&](std::string_view group, std::string_view member, std::string_view one) {
      const auto known = all.find(group);
      if (known != all.end())
        if (const auto same = known->second.find(member); same != known->second.end())
          contradicts |= same->second != one;
      added[group][member] = one;
    };
    // In place: a dictionary may have 64 MiB, and a document would take up to 18 times as much.
    for_each_member(value, [&](std::string_view member, std::string_view one) {
      if (is_viztracer_base(key, member)) {
        has_viztracer_base_ = true;
      } else if (is_json_object(one)) {
        added[member];
        for_each_member(
            one, [&](std::string_view inner, std::string_view text) { add(member, inner, text); });
      } else {
        add({}, member, one);
      }
    });
    if (contradicts) return add_rank_value(plan_.files[file].rank.rank, key, value);
    for (auto& [group, members] : added) all[group].merge(members);
  }

  // Adds what an earlier merge has written with write_ranks(). A list may have been several values
  // then.
  void add_merged_ranks(std::string_view other_data) {
    const JsonDocument ranks(find_member(other_data, "ranks"));
    for (const JsonValue of_rank : ranks.root().members())
      if (const std::optional<std::int64_t> rank = json_integer(of_rank.key()))
        for (const JsonValue member : of_rank.members())
          add_rank_value(*rank, decode_json_string(member.key()), member.text());
  }

  void write_dictionary(PieceWriter& out, std::string_view key,
                        const Dictionary& dictionary) const {
    JsonParts all(out.text(), '{');
    const auto write_members = [&](JsonParts& object, const Members& members) {
      for (const auto& [name, value] : members) {
        object.next(name);
        out.write(value);
      }
    };
    for (const auto& [group, members] : dictionary) {
      if (group.empty()) {
        write_members(all, members);
        continue;
      }
      JsonParts inner(all.next(group), '{');
      write_members(inner, members);
      inner.close();
    }
    if (key == kVizTracerMetadata && has_viztracer_base_)
      all.add(kBase, std::to_string(plan_.origin_ns));
    all.close();
  }

  void write_frames(PieceWriter& out) const {
    JsonParts frames(out.text(), '{');
    for (std::size_t file = 0; file < frames_.size(); ++file)
      for_each_member(frames_[file], [&](std::string_view id, std::string_view frame) {
        append_frame(frames.next(), id, frame, plan_.files[file].frames);
        out.flush_if_large();
      });
    frames.close();
  }

  void write_samples(PieceWriter& out) const {
    JsonParts samples(out.text(), '[');
    std::string scratch;
    for (std::size_t file = 0; file < samples_.size(); ++file) {
      if (samples_[file].empty()) continue;
      const std::vector<TrackFacts>& tracks = plan_.surveys[file].tracks;
      const SampledTracks known(tracks);
      for_each_element(samples_[file], [&](std::string_view sample) {
        if (!time_sample(sample)) return;
        const std::optional<std::size_t> place =
            known.find(find_member(sample, "pid"), find_member(sample, "tid"));
        const TrackTarget* const track =
            place ? plan_.tracks.target(file, tracks[*place].pid, tracks[*place].tid, scratch)
                  : nullptr;
        if (!writes_sample(sample, plan_, file, track)) return;
        append_sample(samples.next(), sample, plan_.files[file], track);
        out.flush_if_large();
      });
    }
    samples.close();
  }

  const MergePlan& plan_;
  std::vector<std::size_t> files_;   // files that something is written of
  std::vector<Members> run_values_;  // one a file
  std::vector<Members> metadata_;    // one a file: what catapult reads of its `metadata`
  Members kept_;
  Members kept_metadata_;
  std::vector<std::string_view> frames_;   // one a file, empty if it has none
  std::vector<std::string_view> samples_;  // the same
  std::map<std::string_view, Dictionary> dictionaries_;
  bool has_viztracer_base_ = false;
  // Values by rank and key. If several files of a rank have different values for a key, the list
  // has each of them.
  std::map<std::int64_t, std::map<std::string, std::vector<std::string_view>>> ranks_;
};

}  // namespace

void write_top_level(const MergePlan& plan, PieceWriter& out,
                     const std::function<void()>& write_own) {
  const TopLevelValues values(plan);
  values.write_kept(out);
  out.text() += ",\n\"otherData\": {";
  write_own();
  out.text() += ",\"ranks\":";
  values.write_ranks(out);
  out.text() += '}';
}

}  // namespace traceloom
