#include "merge/frame/frame.h"

#include "base/json_string.h"
#include "event/event_timing.h"
#include "merge/frame/top_level_values.h"
#include "output/json_writer.h"

#include <array>
#include <map>
#include <ranges>
#include <utility>

namespace traceloom {
namespace {

// Leaves the key out if there are no texts.
template <class Texts>
void write_texts(JsonWriter& json, std::string_view key, const Texts& texts) {
  if (!texts.empty()) write_list(json, key, texts);
}

// Writes what a merge was asked to keep, and no more, so that whoever opens the trace sees that it
// is not complete: {"ranks": [[first, last], ...], "time_ns": [from, to], "steps": [first, last],
// "categories", "exclude_categories", "names", "exclude_names": lists of texts, "min_duration_ns"}.
// An end that was left open is null.
void write_filter(JsonWriter& json, const MergeFilter& filter) {
  json.begin_object();
  if (!filter.ranks.empty()) {
    json.begin_array("ranks");
    for (const NumberRange& range : filter.ranks) {
      json.begin_array();
      json.value(range.first);
      json.value(range.last);
      json.end_array();
    }
    json.end_array();
  }
  if (filter.time)
    write_list(json, "time_ns", std::array{filter.time->from_ns, filter.time->to_ns});
  if (filter.steps) write_list(json, "steps", std::array{filter.steps->first, filter.steps->last});
  const auto expressions = std::views::transform(&NamePattern::expression);
  write_texts(json, "categories", filter.labels.categories);
  write_texts(json, "exclude_categories", filter.labels.excluded_categories);
  write_texts(json, "names", filter.labels.names | expressions);
  write_texts(json, "exclude_names", filter.labels.excluded_names | expressions);
  if (filter.min_duration_ns > 0) json.member("min_duration_ns", filter.min_duration_ns);
  json.end_object();
}

// Writes a signed number: many parsers have no other numbers of 64 bits.
void write_number(JsonWriter& json, std::string_view key, std::uint64_t number) {
  json.member(key, static_cast<std::int64_t>(number));
}

void write_tally(JsonWriter& json, const EventTally& tally) {
  json.begin_object("tally");
  write_number(json, "events", tally.events);
  json.member("first_ns", tally.first_ns);
  json.member("last_ns", tally.last_ns);
  write_number(json, "sum_ns", tally.sum_ns);
  write_number(json, "lengths_ns", tally.lengths_ns);
  write_number(json, "first_event", tally.first_event);
  json.end_object();
}

template <class Stamps>
void write_stamps(JsonWriter& json, const Stamps& stamps) {
  if (stamps.empty()) return;
  write_objects(json, "stamps", stamps, [&](const Stamp& stamp) {
    json.member("rank", stamp.rank);
    json.member("tid", stamp.tid);
    json.member_if("sync_us", stamp.sync_us);
  });
}

// read_merged_inputs() reads this back.
void write_input(JsonWriter& json, const MergedInput& input) {
  json.member("path", input.path);
  json.member("evidence", input.says_rank ? "file" : "position");
  json.member("method", to_string(input.by_collectives ? ClockMethod::collectives
                                  : input.has_clock    ? ClockMethod::merged
                                                       : ClockMethod::none));
  json.member("offset_ns", input.offset_ns);
  json.member("events", input.events);
  if (input.tally) write_tally(json, *input.tally);
  write_stamps(json, input.stamps);
  if (input.has_several_ranks) json.member("has_several_ranks", true);
  if (input.is_part) json.member("is_part", true);
}

// Writes what a merge notes of an input. If the merge and the input are ever read together, the
// note shows that they hold the same events (repeats.h). It is the key "tally": {"events",
// "first_ns", "last_ns", "sum_ns", "lengths_ns", "first_event"} of the whole file (event_tally.h),
// if it has events, and "stamps": [{"rank", "tid", "sync_us"}] of that rank if Composer has written
// the file (recorder_evidence.h), with "has_several_ranks" if Composer's merger has. For an input
// that was merged by us it is the key "inputs": what that merge has noted of its own inputs of that
// rank, [{"path", "evidence", "method", "offset_ns", "events", "tally", "stamps",
// "has_several_ranks", "is_part"}].
void write_tally_or_inputs(JsonWriter& json, const FileEvidence& evidence, std::int64_t rank,
                           const FileClock& clock) {
  const std::vector<MergedInput> inputs =
      inputs_of_rank(evidence.inputs, rank, clock.offset_ns, evidence.base_ns.value_or(0));
  if (inputs.empty()) {
    if (evidence.tally.empty()) return;
    write_tally(json, evidence.tally);
    const bool has_several = evidence.has_several_ranks();
    write_stamps(json, stamps_of(evidence, has_several ? std::optional(rank) : std::nullopt));
    if (has_several) json.member("has_several_ranks", true);
    return;
  }
  write_objects(json, "inputs", inputs,
                [&](const MergedInput& input) { write_input(json, input); });
}

// Pairs of a key and a JSON value.
using Members = std::vector<std::pair<std::string_view, std::string>>;

// Writes metadata events. They have no ts (viewers order names by ts, and there is only one name),
// and they have a category (catapult's streaming reader ignores an event without one).
class MetadataWriter {
 public:
  explicit MetadataWriter(PieceWriter& out) : out_(out) {}

  // Sets the process that all further events belong to.
  void set_pid(std::int64_t pid) { pid_ = pid; }

  void write(std::uint32_t tid, std::string_view name, std::string_view key,
             std::string_view value) {
    write_args(tid, name, {{key, json_string(value)}});
  }
  void write(std::uint32_t tid, std::string_view name, std::string_view key, std::int64_t value) {
    write_args(tid, name, {{key, std::to_string(value)}});
  }
  void write_args(std::uint32_t tid, std::string_view name, const Members& args) {
    if (!std::exchange(is_first_, false)) out_.text() += ",\n";
    JsonWriter json(out_.text());
    json.begin_object();
    json.member("name", name);
    json.member("cat", "__metadata");
    json.member("ph", "M");
    json.member("pid", pid_);
    json.member("tid", tid);
    json.begin_object("args");
    for (const auto& [key, value] : args) {
      json.key(key);
      json.raw(value);
    }
    json.end_object();
    json.end_object();
    out_.flush_if_large();
  }

 private:
  PieceWriter& out_;
  std::int64_t pid_ = 0;
  bool is_first_ = true;
};

// Returns JSON that canonical_id() reads as the same id, if can_be_noted() accepts the id.
std::string json_of_id(const std::string& canonical) {
  if (canonical.empty()) return "null";
  if (is_json_string(canonical)) return json_string(unquoted(canonical));
  // Many parsers refuse a number of more than 64 bits.
  const bool is_large =
      canonical.find_first_not_of("-0123456789") == std::string::npos && !json_integer(canonical);
  return is_strict_json(canonical) && !is_large ? canonical : json_string(canonical);
}

// Ids that are no JSON, or numbers with more digits than canonical_id() takes for one, would come
// back as other ids. A row with such an id is known to later merges by its number in the output.
bool can_be_noted(const RowSource& source) {
  const auto comes_back = [](const std::string& id) { return canonical_id(json_of_id(id)) == id; };
  return comes_back(source.tid) && (!source.process || comes_back(source.process->source_pid));
}

std::uint32_t main_tid_of(const OutputProcess& process) {
  return process.tracks.empty() ? 1 : process.tracks.front().tid;
}

// Returns the name of a row, with the source by which a later merge knows the row.
Members name_of(const OutputTrack& track) {
  Members args{{"name", json_string(track.name)}};
  if (!track.source || !can_be_noted(*track.source)) return args;
  if (const std::optional<BesideMain>& process = track.source->process) {
    args.emplace_back("process", json_string(process->title));
    args.emplace_back("source_pid", json_of_id(process->source_pid));
    if (track.source->is_gpu) args.emplace_back("is_gpu", "true");
  }
  args.emplace_back("source_tid", json_of_id(track.source->tid));
  return args;
}

// Returns the sort index of a row with those of the inputs, so that a later merge can order the
// rows of several merges.
Members index_of(std::int64_t index, std::optional<std::int64_t> source,
                 std::optional<std::int64_t> process) {
  Members args{{"sort_index", std::to_string(index)}};
  if (source) args.emplace_back(kSourceSortIndex, std::to_string(*source));
  if (process) args.emplace_back(kProcessSortIndex, std::to_string(*process));
  return args;
}

void write_metadata(const OutputProcess& process, std::int64_t sort_index,
                    MetadataWriter& metadata) {
  metadata.set_pid(process.pid);
  const std::uint32_t main_tid = main_tid_of(process);
  metadata.write(main_tid, "process_name", "name", process.name);
  if (!process.labels.empty()) metadata.write(main_tid, "process_labels", "labels", process.labels);
  metadata.write_args(main_tid, "process_sort_index",
                      index_of(sort_index, process.sort_index, std::nullopt));
  // Composer writes this, too: from it, this and other mergers know which rank an event belongs to.
  Members rank{{"value", std::to_string(process.rank)}};
  if (!process.is_main) {
    rank.emplace_back("process", json_string(process.title));
    rank.emplace_back("source_pid", json_of_id(process.source_pid));
  }
  metadata.write_args(main_tid, "global_rank", rank);
  std::int64_t index = 0;
  for (const OutputTrack& track : process.tracks) {
    metadata.write_args(track.tid, "thread_name", name_of(track));
    metadata.write_args(track.tid, "thread_sort_index",
                        index_of(index++, track.sort_index, track.process_sort_index));
  }
}

// All ranks are on one clock, so one sync is enough. Like Composer, the merge gives it to the first
// rank.
void write_sync(const MergePlan& plan, std::uint32_t main_tid, MetadataWriter& metadata) {
  if (plan.sync_us) metadata.write(main_tid, "clock_sync_timestamp_us", "value", *plan.sync_us);
  if (plan.sync_error_bound_us)
    metadata.write(main_tid, "clock_sync_error_bound", "value", *plan.sync_error_bound_us);
}

void write_file(JsonWriter& json, const FilePlan& file, const MergedRankEvents& events,
                bool is_filtered, const FileEvidence& evidence, std::int64_t rank) {
  json.member("path", file.path);
  json.member("evidence", to_string(file.rank.source));
  json.member("method", to_string(file.clock.method));
  json.member("offset_ns", file.clock.offset_ns);
  json.member("error_ns", file.clock.error_ns);
  json.member_if("worst_error_ns", file.clock.worst_error_ns);
  json.member_if("drift_ppm", file.clock.drift_ppm);
  write_estimate(json, file.clock);
  json.member("events", events.events);
  if (is_filtered) json.member("filtered", events.filtered);
  write_tally_or_inputs(json, evidence, rank, file.clock);
}

void write_ranks(JsonWriter& json, const MergePlan& plan, const EventsOfRank& events_of) {
  std::map<std::int64_t, std::vector<std::size_t>> files_of_rank;
  for (std::size_t i = 0; i < plan.files.size(); ++i)
    for (const std::int64_t rank : plan.tracks.ranks_of(i)) files_of_rank[rank].push_back(i);
  json.begin_array("ranks");
  for (const std::int64_t rank : plan.tracks.ranks()) {
    if (!plan.writes(rank)) continue;
    json.begin_object();
    json.member("rank", rank);
    write_objects(json, "files", files_of_rank[rank], [&](std::size_t file) {
      write_file(json, plan.files[file], events_of(file, rank), plan.filter.has_value(),
                 plan.surveys[file].evidence, rank);
    });
    json.end_object();
  }
  json.end_array();
}

// read_rounds() reads this back.
void write_rounds(JsonWriter& json, std::string_view name, const SyncRounds& rounds) {
  if (rounds.empty()) return;
  json.begin_object(name);
  for (const auto& [key, times] :
       {std::pair("enter", &rounds.enter_ns), std::pair("exit", &rounds.exit_ns)}) {
    json.begin_array(key);
    for (const std::int64_t ns : *times) {
      std::string time;
      append_microseconds(time, ns);
      json.raw(time);
    }
    json.end_array();
  }
  json.end_object();
}

// read_cycles() reads this back.
void write_cycles(JsonWriter& json, const std::vector<MergedCycle>& cycles) {
  write_objects(json, "cycles", cycles, [&](const MergedCycle& cycle) {
    json.member("cycle", cycle.name);
    json.member("sync_us", cycle.sync_us);
    json.member("first_ns", cycle.first_ns);
    json.member("last_ns", cycle.last_ns);
    json.member_if("error_bound_us", cycle.error_bound_us);
    write_rounds(json, "start_rounds", cycle.rounds.start);
    write_rounds(json, "end_rounds", cycle.rounds.end);
  });
}

// Writes what was done, as an object.
void write_own(JsonWriter& json, const MergePlan& plan, const EventsOfRank& events_of,
               const std::vector<ProblemCounts>& problems, const std::vector<LeftOut>& left_out) {
  json.begin_object();
  json.member("version", TRACELOOM_VERSION);
  json.member("origin_ns", plan.origin_ns);
  // A single cycle without a name or rounds says no more than the sync of the file.
  if (plan.cycles.size() > 1 || (plan.cycles.size() == 1 && plan.cycles.front().is_worth_telling()))
    write_cycles(json, plan.cycles);
  if (plan.filter) {
    json.key("filter");
    write_filter(json, plan.filter->filter());
  }
  write_ranks(json, plan, events_of);
  json.begin_array("problems");
  for (std::size_t i = 0; i < problems.size(); ++i)
    if (!plan.filter || plan.filter->wants_file(i))
      write_problems(json, plan.files[i].path, problems[i]);
  json.end_array();
  if (!left_out.empty()) {
    json.key("left_out");
    write_left_out(json, left_out);
  }
  json.end_object();
}

}  // namespace

void write_head_of_trace(const MergePlan& plan,
                         const std::function<void(std::string_view)>& write) {
  PieceWriter out(write);
  std::string& text = out.text();
  text += "{\"displayTimeUnit\": \"";
  text += plan.sub_microsecond ? "ns" : "ms";
  text += "\",\n\"baseTimeNanoseconds\": ";
  text += std::to_string(plan.origin_ns);
  text += ",\n\"traceEvents\": [\n";
  MetadataWriter metadata(out);
  // With one process a rank the index is the rank, so that ranks of several merges sort among each
  // other.
  std::int64_t index = 0;
  bool is_first = true;
  for (const OutputProcess& process : plan.filter ? plan.filter->rows() : plan.tracks.processes()) {
    const std::int64_t sort_index = plan.pids == PidLayout::rank ? process.rank : index++;
    if (!plan.writes(process.rank)) continue;
    write_metadata(process, sort_index, metadata);
    if (std::exchange(is_first, false)) write_sync(plan, main_tid_of(process), metadata);
  }
  out.flush();
}

bool have_same_head(const MergePlan& a, const MergePlan& b) {
  std::string head;
  write_head_of_trace(a, [&](std::string_view piece) { head += piece; });
  std::string_view rest = head;
  bool same = true;
  write_head_of_trace(b, [&](std::string_view piece) {
    same = same && rest.starts_with(piece);
    if (same) rest.remove_prefix(piece.size());
  });
  return same && rest.empty();
}

void write_tail(const MergePlan& plan, const EventsOfRank& events_of,
                const std::vector<ProblemCounts>& problems, const std::vector<LeftOut>& left_out,
                const std::function<void(std::string_view)>& write) {
  PieceWriter out(write);
  out.text() += "\n]";
  write_top_level(plan, out, [&] {
    out.text() += "\"traceloom\":";
    JsonWriter json(out.text());
    write_own(json, plan, events_of, problems, left_out);
  });
  out.text() += '}';
  out.flush();
}

}  // namespace traceloom
