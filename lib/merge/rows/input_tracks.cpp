#include "merge/rows/input_tracks.h"

#include "base/ascii.h"
#include "json/json_document.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

// True for the end of an arrow from a launch on the CPU to what it launched, in new and old
// versions.
bool is_arrow_to_gpu(const Event& event) {
  return event.phase == 'f' &&
         is_any_of(event.text(Key::cat), R"("ac2g")", R"("async_gpu")", R"("async_cpu_to_gpu")");
}

// True for the categories that Kineto writes on GPU rows only, in new and old versions.
bool is_gpu_category(std::string_view category) {
  return is_any_of(category, R"("kernel")", R"("gpu_memcpy")", R"("gpu_memset")",
                   R"("gpu_user_annotation")", R"("Kernel")", R"("Memcpy")", R"("Memset")",
                   R"("cuda_sync")");
}

// Returns the number in args.device. It is searched as text: args of strict JSON have it in no
// other place, and in others a wrong guess costs a row.
std::string_view device_in(std::string_view args) {
  constexpr std::string_view kKey = R"("device")";
  std::size_t begin = args.find(kKey);
  if (begin == std::string_view::npos) return {};
  begin = args.find_first_not_of(" \t\r\n:", begin + kKey.size());
  if (begin == std::string_view::npos) return {};
  std::size_t end = begin;
  while (end < args.size() && args[end] >= '0' && args[end] <= '9') ++end;
  return args.substr(begin, end - begin);
}

std::uint64_t count_gpu_events(const TrackFacts& track) {
  std::uint64_t count = 0;
  for (const auto& [gpu, events] : track.gpu_events) count += events;
  return count;
}

// Removes torch's own processes of GPUs, if torch labels another one CPU: nobody has folded rows
// there. (torch writes Python threads that it does not know as thread 0 of pid 0, which is the pid
// of GPU 0.) A tool that writes one pid over all processes leaves only the last of their labels.
void drop_own_processes_of_gpus(const FileSurvey& survey, std::set<std::string>& folded) {
  if (std::ranges::none_of(survey.processes,
                           [](const auto& process) { return process.second.labels == "CPU"; }))
    return;
  std::erase_if(folded, [&](const std::string& pid) {
    const auto process = survey.processes.find(pid);
    return process != survey.processes.end() && process->second.labels == "GPU " + pid;
  });
}

// Returns the pids under which GPU rows and CPU threads stand together.
std::set<std::string> folded_pids(const FileSurvey& survey) {
  std::set<std::string> with_gpu;
  std::set<std::string> with_host;
  const bool is_composer = !survey.evidence.rank_marks.empty();
  for (const TrackFacts& track : survey.tracks) {
    if (!track.gpu_events.empty()) with_gpu.insert(canonical_id(track.pid));
    if (track.is_host || is_composer) with_host.insert(canonical_id(track.pid));
  }
  std::set<std::string> folded;
  std::set_intersection(with_gpu.begin(), with_gpu.end(), with_host.begin(), with_host.end(),
                        std::inserter(folded, folded.end()));
  if (!is_composer) drop_own_processes_of_gpus(survey, folded);
  return folded;
}

// Returns the rows of the GPUs that a track's events name; events that name none go to the first of
// them.
std::vector<TrackFacts> gpu_rows_of(const TrackFacts& track) {
  std::vector<TrackFacts> rows;
  const auto add = [&](const std::string& said, const std::string& gpu, std::uint64_t events) {
    TrackFacts& row = rows.emplace_back();
    row.pid = track.pid;
    row.tid = track.tid;
    row.events = events;
    row.is_gpu = true;
    row.name = track.gpu_name;
    row.said_gpu = said;
    row.gpu = gpu;
  };
  std::uint64_t unsaid = 0;
  for (const auto& [gpu, events] : track.gpu_events) {
    if (gpu.empty())
      unsaid = events;
    else
      add(gpu, gpu, events);
  }
  const std::string first = rows.empty() ? "" : *rows.front().gpu;
  add("", first, unsaid);
  return rows;
}

// Leaves in a track what is not on its GPU rows: a CPU thread, or only arrows of the GPU row.
void leave_to_host(TrackFacts& track, const std::string& gpu) {
  const std::uint64_t of_host = track.events - count_gpu_events(track);
  const bool is_thread = of_host > track.flow_events;
  track.moved_events = is_thread ? track.events - of_host : track.events;
  track.events -= track.moved_events;
  track.gpu_events.clear();
  track.is_gpu = false;
  track.name = track.host_name;
  if (is_thread) return;
  track.name.clear();
  track.gpu = gpu;
}

// Restores Composer's names. The names that torch gives to its processes all stand under the rank's
// pid, and the last one hides the others.
void keep_composer_names(FileSurvey& survey, const std::set<std::string>& folded) {
  for (auto& [pid, process] : survey.processes) {
    if (!process.composer_name.empty()) process.name = process.composer_name;
    if (survey.evidence.rank_marks.names(pid) || folded.contains(pid)) process.labels.clear();
  }
}

}  // namespace

bool is_host_category(std::string_view category) {
  return is_any_of(category, R"("cpu_op")", R"("cuda_runtime")", R"("python_function")",
                   R"("user_annotation")", R"("Operator")", R"("Runtime")");
}

std::optional<std::string_view> gpu_of_candidate(const Event& event) {
  if (is_flow_phase(event.phase) || !is_gpu_category(event.text(Key::cat))) return std::nullopt;
  return device_in(event.text(Key::args));
}

void unfold_gpu_rows(FileSurvey& survey) {
  if (survey.evidence.was_merged_by_us()) return;
  const std::set<std::string> folded = folded_pids(survey);
  keep_composer_names(survey, folded);
  std::vector<TrackFacts> rows;
  for (TrackFacts& track : survey.tracks) {
    if (track.gpu_events.empty() || track.source || !folded.contains(canonical_id(track.pid)))
      continue;
    std::vector<TrackFacts> of_track = gpu_rows_of(track);
    leave_to_host(track, *of_track.back().gpu);
    std::ranges::move(of_track, std::back_inserter(rows));
  }
  std::ranges::move(rows, std::back_inserter(survey.tracks));
}

std::optional<std::string_view> GpuRowFinder::find(const Event& event) {
  if (is_flow_phase(event.phase)) {
    const bool is_of_slice = has_slice_ && same_text(event.text(Key::pid), pid_) &&
                             same_text(event.text(Key::tid), tid_) && event.text(Key::ts) == ts_;
    if (is_of_slice) return gpu_;
    return is_arrow_to_gpu(event) ? std::optional<std::string_view>("") : std::nullopt;
  }
  const std::optional<std::string_view> gpu = gpu_of(event);
  if (event.phase != 'X') return gpu;
  has_slice_ = true;
  pid_ = event.text(Key::pid);
  tid_ = event.text(Key::tid);
  ts_ = event.text(Key::ts);
  gpu_ = gpu;
  return gpu;
}

namespace {

bool is_composer_name(std::string_view process) {
  return process.starts_with("Rank ") && process.ends_with(" training loop process");
}

void name_process(std::string name, ProcessFacts& process) {
  // Composer's merger may have put other ranks under the pid, after the rank that the pid belongs
  // to.
  if (process.composer_name.empty() && is_composer_name(name)) process.composer_name = name;
  process.name = std::move(name);
}

// True for Kineto's names for the rows of a GPU.
bool is_gpu_row_name(std::string_view thread) {
  return thread.starts_with("stream ") || thread.starts_with("Device ");
}

void name_track(const std::string& name, TrackFacts& track) {
  track.name = name;
  (is_gpu_row_name(name) ? track.gpu_name : track.host_name) = name;
}

void note_row_source(JsonValue args, TrackFacts& track) {
  const std::string_view tid = args["source_tid"].text();
  if (tid.empty()) return;
  track.source = RowSource{canonical_id(tid)};
  const std::string_view pid = args["source_pid"].text();
  if (pid.empty()) return;
  track.source->process = BesideMain{args["process"].string(), canonical_id(pid)};
  track.source->is_gpu = args["is_gpu"].text() == "true";
}

}  // namespace

void note_metadata(const Event& event, const StringTable& tracks, FileSurvey& survey) {
  const JsonDocument args(event.text(Key::args));
  const std::string_view key = unquoted(event.text(Key::name));
  const std::string pid = canonical_id(event.text(Key::pid));
  std::string scratch;
  const std::optional<std::uint32_t> number =
      tracks.find(track_key(event.text(Key::pid), event.text(Key::tid), scratch));
  TrackFacts* const track = number ? &survey.tracks[*number] : nullptr;
  const auto index_in = [&](std::string_view member, std::optional<std::int64_t>& index) {
    if (const JsonValue value = args[member]; value.is_there())
      index = json_integer(value.string());
  };
  if (key == "global_rank") {
    if (const JsonValue title = args["process"]; title.is_there())
      survey.processes[pid].beside_main =
          BesideMain{title.string(), canonical_id(args["source_pid"].text())};
  } else if (key == "process_labels") {
    if (const JsonValue labels = args["labels"]; labels.is_there())
      survey.processes[pid].labels = labels.string();
  } else if (key == "process_name") {
    if (const JsonValue name = args["name"]; name.is_there())
      name_process(name.string(), survey.processes[pid]);
  } else if (key == "process_sort_index" &&
             (args["sort_index"].is_there() || args[kSourceSortIndex].is_there())) {
    index_in("sort_index", survey.processes[pid].sort_index);
    index_in(kSourceSortIndex, survey.processes[pid].source_sort_index);
  }
  if (track == nullptr) return;
  if (key == "thread_name") {
    if (const JsonValue name = args["name"]; name.is_there()) name_track(name.string(), *track);
    note_row_source(args.root(), *track);
  } else if (key == "thread_sort_index") {
    index_in("sort_index", track->sort_index);
    index_in(kSourceSortIndex, track->source_sort_index);
  }
  if (key == "thread_sort_index" || key == "process_sort_index")
    index_in(kProcessSortIndex, track->process_sort_index);
}

}  // namespace traceloom
