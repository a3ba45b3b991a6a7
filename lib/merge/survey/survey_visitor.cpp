#include "merge/survey/survey_visitor.h"

#include "base/ascii.h"
#include "base/json_walk.h"
#include "base/problems.h"
#include "flows/flow_arrows.h"
#include "identity/evidence/recorder_evidence.h"
#include "input/byte_source.h"
#include "input/zstd_source.h"
#include "json/json_document.h"
#include "merge/edits/field_edits.h"
#include "merge/facts/ids.h"
#include "merge/frame/frame.h"
#include "merge/frame/top_level_values.h"
#include "merge/rows/input_tracks.h"
#include "scan/event_repair.h"
#include "scan/list_reader.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

// True for metadata that the merge writes itself, once a rank or track.
bool is_rewritten_metadata(std::string_view name) {
  return is_any_of(name, "process_name", "process_labels", "process_sort_index", "thread_name",
                   "thread_sort_index", "global_rank", "clock_sync_timestamp_us",
                   "clock_sync_error_bound");
}

bool is_new(StringTable& texts, std::string_view text) {
  const std::size_t known = texts.size();
  return texts.intern(text) == known;
}

void count_gpu_event(std::string_view gpu, std::uint64_t events, TrackFacts& track) {
  auto found = track.gpu_events.find(gpu);
  if (found == track.gpu_events.end()) found = track.gpu_events.emplace(gpu, 0).first;
  found->second += events;
}

// Notes whether the track belongs to a GPU, to the CPU, or to both.
void note_row(const Event& event, TrackFacts& track) {
  if (is_flow_phase(event.phase)) {
    ++track.flow_events;
  } else if (const std::optional<std::string_view> gpu = gpu_of(event)) {
    track.is_gpu = true;
    count_gpu_event(*gpu, 1, track);
  } else if (!track.is_host) {
    track.is_host = is_host_category(event.text(Key::cat));
  }
}

}  // namespace

// The survey of one chunk.
struct SurveyVisitor::Chunk : ChunkResult {
  ReadingPart reading;
  StringTable track_texts;  // track_key()s
  std::vector<TrackFacts> tracks;
  struct NamingEvent {
    std::string text;
    Event event;  // its raw text is gone when the chunk is taken
  };
  std::vector<NamingEvent> names;  // for note_metadata()
  StringTable metadata_texts;
  std::vector<KeptMetadata> metadata;
  EventFacts facts;
  AsyncBatch asyncs;
  std::vector<std::pair<std::string, std::string>> dumps;  // key, process
  std::uint64_t begins = 0;
  ProblemCounts timing_problems;  // counted where events are written, not here
  FilterFacts filter;

  bool reset() override {
    *this = Chunk();
    return true;
  }

  TrackFacts& track(const Event& event) {
    const std::string_view pid = event.text(Key::pid);
    const std::string_view tid = event.text(Key::tid);
    if (!tracks.empty() && same_text(tracks[last_track_].tid, tid) &&
        same_text(tracks[last_track_].pid, pid))
      return tracks[last_track_];
    last_track_ = track_texts.intern(track_key(pid, tid, scratch_));
    if (last_track_ == tracks.size()) {
      tracks.emplace_back();
      tracks.back().pid = pid;
      tracks.back().tid = tid;
    }
    return tracks[last_track_];
  }

  void add_metadata(const Event& event) {
    const std::string_view key = unquoted(event.text(Key::name));
    if (key == "stackFrames" || key == "typeNames") add_dictionary(event);
    if (!is_rewritten_metadata(key)) {
      const bool counts_each_time = key == "recorder" && reports_losses(event);
      if (counts_each_time || is_new(metadata_texts, event.raw))
        metadata.push_back({std::string(event.raw), event.offset, counts_each_time});
      return;
    }
    names.push_back({std::string(event.raw), event});
  }

  void add_ids(const Event& event, std::int64_t start_ns, TrackFacts& track,
               const std::vector<std::string>& shared_categories) {
    if (is_flow_phase(event.phase)) {
      const std::string_view key = flow_id_key(event, scratch_);
      if (is_shared_flow(event, shared_categories)) {
        ++facts.shared_flows;
      } else {
        if (!key.empty()) facts.flow_ids.add(key);
        if (binds_to_next_slice(event)) ++facts.next_ends;
      }
    } else if (event.phase == 'C') {
      facts.counters.intern(counter_key(event, scratch_));
    } else if (is_async(event)) {
      const std::string_view key = async_id_key(event, scratch_);
      if (!key.empty()) {
        facts.async_ids.add(key, merged_async_key(event, merged_scratch_));
        asyncs.add(key, event, start_ns);
        track.has_global_async = track.has_global_async || !has_local_async_id(event);
      }
    } else if (is_object_phase(event.phase)) {
      add_objects(event);
    }
    if (event.has(Key::bind_id)) facts.bind_ids.add(id_key(event.text(Key::bind_id), scratch_));
    if (event.phase == 'P' || event.phase == 'c') add_times_in_args(event, start_ns);
    if (event.has(Key::sf)) facts.add_frame(event.text(Key::sf));
    if (event.has(Key::esf)) facts.add_frame(event.text(Key::esf));
  }

  void add_for_filter(const Event& event, const EventTiming& timing, bool looks_for_steps) {
    const bool is_flow = is_flow_phase(event.phase);
    std::optional<std::string_view> gpu;
    if (is_flow || event.phase == 'X') gpu = gpu_rows_.find(event);
    if (!timing.timed) return;
    if (!is_flow) {
      if (looks_for_steps) filter.steps.add(event, timing.start_ns, timing.duration_ns);
      return;
    }
    track_key(event.text(Key::pid), event.text(Key::tid), scratch_);
    if (gpu) add_gpu(scratch_, *gpu);
    const std::uint32_t row = filter.tracks.intern(scratch_);
    filter.places.push_back({timing.start_ns, row, false});
    // If the end has no start, it is bound to the slice around it, which is not known yet
    // (linked_events.h).
    if (binds_to_next_slice(event)) filter.places.push_back({timing.start_ns, row, true});
  }

 private:
  void add_dictionary(const Event& event) {
    const JsonDocument args(strict_value(event.text(Key::args), args_scratch_));
    for (const std::string_view key : {"stackFrames", "typeNames"})
      for (const JsonValue member : args[key].members())
        facts.add_frame(std::string("\"").append(member.key()) + '"');
  }

  void add_times_in_args(const Event& event, std::int64_t start_ns) {
    const std::string_view args = strict_value(event.text(Key::args), args_scratch_);
    if (const auto first = first_time_in_args(event.phase, args, start_ns))
      reading.starts.add(*first);
  }

  void add_objects(const Event& event) {
    const std::string_view key = object_id_key(event, scratch_);
    if (!key.empty()) facts.object_ids.add(key, merged_object_key(event, merged_scratch_));
    if (event.phase == 'v' && !key.empty())
      dumps.emplace_back(key, canonical_id(event.text(Key::pid)));
    if (event.phase != 'O') return;
    const std::string_view args = strict_value(event.text(Key::args), args_scratch_);
    const std::string_view scope = event.text(Key::scope);
    find_objects_in_snapshot(find_member(args, "snapshot"), [&](std::string_view id) {
      facts.object_ids.add(
          object_key(canonical_id(event.text(Key::pid)), scope.empty() ? kDefaultScope : scope, id),
          merged_hex_key(id, merged_scratch_));
    });
  }

  GpuRowFinder gpu_rows_;
  std::string scratch_;
  std::string merged_scratch_;
  std::string args_scratch_;
  std::size_t last_track_ = 0;
};

SurveyVisitor::SurveyVisitor(std::size_t files, const FailureHandler& on_failure,
                             SurveyOptions options)
    : surveys_(files),
      track_ids_(files),
      metadata_texts_(files),
      asyncs_(files),
      on_failure_(on_failure),
      options_(std::move(options)) {}

std::unique_ptr<ChunkResult> SurveyVisitor::make_result() {
  return std::make_unique<Chunk>();
}

void SurveyVisitor::visit(ChunkResult& result, std::size_t, const Event& event) {
  Chunk& chunk = static_cast<Chunk&>(result);
  const EventTiming timing = time_event(event, chunk.timing_problems);
  add(chunk, event, timing);
  if (options_.filter != nullptr)
    chunk.add_for_filter(event, timing, options_.filter->steps.has_value());
}

void SurveyVisitor::add(ChunkResult& result, const Event& event, const EventTiming& timing) const {
  Chunk& chunk = static_cast<Chunk&>(result);
  chunk.reading.add_evidence(event, timing);
  if (!timing.usable || (event.phase == 'C' && !has_counter_value(event))) return;
  TrackFacts& track = chunk.track(event);
  if (event.phase == 'M') return chunk.add_metadata(event);
  ++chunk.facts.events;
  // A counter without a tid belongs to the process and makes no track. An E makes none either:
  // without a B on that track it is not written.
  if (event.phase == 'E') {
    ++track.ends;
  } else if (event.phase == 'C' && !event.has(Key::tid)) {
    ++track.counters;
  } else {
    ++track.events;
    track.has_begins |= event.phase == 'B';
    note_row(event, track);
  }
  chunk.reading.add_times(event, timing);
  if (event.phase == 'B') ++chunk.begins;
  if (event.phase == 'E') ++chunk.facts.end_events;
  chunk.facts.sub_microsecond |= timing.sub_microsecond;
  chunk.facts.lacks_durations |= lacks_duration(event);
  if (event.has(Key::cut_id)) chunk.facts.cut_slices.add(event);
  constexpr std::uint32_t kIds =
      Event::bit(Key::bind_id) | Event::bit(Key::sf) | Event::bit(Key::esf);
  if (event.phase != 'X' || (event.present & kIds) != 0)
    chunk.add_ids(event, timing.start_ns, track, options_.shared_flows);
}

void SurveyVisitor::take(ChunkResult& result, std::size_t file) {
  Chunk& chunk = static_cast<Chunk&>(result);
  FileSurvey& survey = surveys_[file];
  survey.FileReading::append(chunk.reading);
  survey.EventFacts::append(chunk.facts);
  if (!chunk.asyncs.empty()) asyncs_[file].take(chunk.asyncs);
  add_dumps(chunk, survey);
  add_tracks(chunk, file);
  for (Chunk::NamingEvent& naming : chunk.names) {
    naming.event.raw = naming.text;
    note_metadata(naming.event, track_ids_[file], survey);
  }
  for (KeptMetadata& event : chunk.metadata)
    if (event.counts_each_time || is_new(metadata_texts_[file], event.text))
      survey.metadata.push_back(std::move(event));
  const std::uint64_t begins = survey.open_begins + chunk.begins;
  survey.open_begins = begins - std::min(begins, chunk.facts.end_events);
  survey.most_open_begins = std::max(survey.most_open_begins, survey.open_begins);
  if (options_.filter != nullptr) add_filter_facts(chunk, survey.filter);
}

void count_tracks(FileSurvey& survey, std::size_t most, std::size_t& tracks) {
  survey.tracks_before = tracks;
  survey.has_too_many_tracks |= survey.tracks.size() > most - tracks;
  if (survey.has_too_many_tracks)
    std::vector<TrackFacts>().swap(survey.tracks);
  else
    tracks += survey.tracks.size();
}

void SurveyVisitor::end_file(std::size_t file, const FileEnd& end) {
  FileSurvey& survey = surveys_[file];
  survey.end(end);
  survey.top_level = end.top_level.take_entries();
  survey_top_level(survey);
  track_ids_[file] = {};
  metadata_texts_[file] = {};
  survey.async_slices = asyncs_[file].finish();
  asyncs_[file] = {};
  unfold_gpu_rows(survey);
  count_tracks(survey, options_.most_tracks, tracks_);
  if (options_.counts_each_file) tracks_ = 0;
  std::vector<FlowPlace>& places = survey.filter.places;
  std::ranges::sort(places, [](const FlowPlace& a, const FlowPlace& b) {
    return std::tie(a.row, a.ns, a.binds_next) < std::tie(b.row, b.ns, b.binds_next);
  });
  places.erase(std::unique(places.begin(), places.end()), places.end());
  places.shrink_to_fit();
}

void SurveyVisitor::fail_file(std::size_t file, const Error& error) {
  on_failure_(file, error);
  surveys_[file] = {};
  surveys_[file].error = error.what();
}

void SurveyVisitor::add_tracks(const Chunk& chunk, std::size_t file) {
  std::vector<TrackFacts>& known = surveys_[file].tracks;
  for (std::uint32_t i = 0; i < chunk.tracks.size(); ++i) {
    if (known.size() > options_.most_tracks - tracks_) return;
    const std::uint32_t id = track_ids_[file].intern(chunk.track_texts[i]);
    if (id == known.size()) {
      known.push_back(chunk.tracks[i]);
      continue;
    }
    known[id].is_gpu |= chunk.tracks[i].is_gpu;
    known[id].ends += chunk.tracks[i].ends;
    known[id].has_begins |= chunk.tracks[i].has_begins;
    known[id].counters += chunk.tracks[i].counters;
    known[id].has_global_async |= chunk.tracks[i].has_global_async;
    known[id].is_host |= chunk.tracks[i].is_host;
    known[id].events += chunk.tracks[i].events;
    known[id].flow_events += chunk.tracks[i].flow_events;
    for (const auto& [gpu, events] : chunk.tracks[i].gpu_events)
      count_gpu_event(gpu, events, known[id]);
  }
}

void SurveyVisitor::add_dumps(const Chunk& chunk, FileSurvey& survey) {
  for (const auto& [key, pid] : chunk.dumps) {
    std::vector<std::string>& processes = survey.dumps[key];
    if (std::ranges::find(processes, pid) != processes.end()) continue;
    if (!processes.empty()) survey.object_ids.ids.add(process_dump_key(key, pid));
    processes.push_back(pid);
  }
}

void SurveyVisitor::add_filter_facts(const Chunk& chunk, FilterFacts& facts) {
  facts.steps.append(chunk.filter.steps);
  std::vector<std::uint32_t> tracks;
  for (std::uint32_t i = 0; i < chunk.filter.tracks.size(); ++i)
    tracks.push_back(facts.tracks.intern(chunk.filter.tracks[i]));
  for (FlowPlace place : chunk.filter.places) {
    place.row = tracks[place.row];
    facts.places.push_back(place);
  }
}

namespace {

// The number of pieces between head and tail. In real traces GPU streams, autograd threads and data
// loader workers come late, and what the profiler says of itself stands at the end.
constexpr std::uint64_t kPiecesBetween = 8;

// The bytes to read of a text of `size` bytes.
struct SampleSizes {
  std::size_t head;
  std::size_t piece;
  std::size_t tail;

  static SampleSizes of(std::uint64_t size) {
    const auto share = [&](std::uint64_t divisor, std::size_t least, std::size_t most) {
      return static_cast<std::size_t>(std::clamp<std::uint64_t>(size / divisor, least, most));
    };
    return {share(16, std::size_t{32} << 10, std::size_t{512} << 10),
            share(512, std::size_t{4} << 10, std::size_t{64} << 10),
            share(32, std::size_t{16} << 10, std::size_t{256} << 10)};
  }
};

// Surveys pieces of one file.
class Sampler {
 public:
  Sampler(const std::string& path, const std::vector<std::string>& shared_flows)
      : parser_(path), visitor_(1, on_failure_, {.shared_flows = shared_flows}) {}

  // Returns false if the text does not begin as a trace.
  bool read_head(std::string_view text) {
    if (sniff_foreign(text)) return false;
    const std::size_t list = parser_.feed(text);
    if (parser_.state() != TopLevelParser::State::in_list) return false;
    scan(text.substr(list), list, Position::first);
    read_to_ = text.size();
    return true;
  }

  // Reads a piece that stands at `offset`, after the head. Skips what has been read already, and
  // what stands after the list.
  void read_piece(std::string_view text, std::uint64_t offset) {
    const std::uint64_t end = offset + text.size();
    if (end <= read_to_ || has_ended_) return;
    const std::uint64_t known = offset < read_to_ ? read_to_ - offset : 0;
    text.remove_prefix(static_cast<std::size_t>(known));
    const std::size_t start = find_event_start(text, 0);
    if (start != std::string_view::npos)
      scan(text.substr(start), offset + known + start, Position::after_comma);
    read_to_ = end;
  }

  std::optional<FileSurvey> finish(std::uint64_t size) {
    parser_.finish(size, false);
    visitor_.end_file(0, {parser_, {}, 0, size});
    FileSurvey survey = std::move(visitor_.take_surveys().front());
    survey.problems = {};
    // Assume that a named track has events: in two of three real traces the samples missed a rare
    // one.
    for (TrackFacts& track : survey.tracks)
      if (!track.name.empty()) track.events = std::max<std::uint64_t>(track.events, 1);
    // Samples tear begins from their ends, and collectives from those of other files. The guess
    // leaves both out; it is right if clocks do not depend on collectives.
    survey.async_slices = {};
    survey.evidence.collectives = {};
    if (survey.evidence.was_merged()) return std::nullopt;
    return survey;
  }

 private:
  void scan(std::string_view text, std::uint64_t offset, Position position) {
    const ScannedText scanned = scan_text(visitor_, 0, text, offset, position, Behind::more_text);
    visitor_.take(*scanned.result, 0);
    if (scanned.end != ScanEnd::array) return;
    has_ended_ = true;
    parser_.resume(offset + scanned.end_position);
    parser_.feed(text.substr(scanned.end_position));
  }

  TopLevelParser parser_;
  FailureHandler on_failure_;
  SurveyVisitor visitor_;
  std::uint64_t read_to_ = 0;
  bool has_ended_ = false;  // the list has ended within what was read
};

std::optional<FileSurvey> sample_plain(const std::string& path, const SeekableFile& file,
                                       const std::vector<std::string>& shared_flows) {
  Sampler sampler(path, shared_flows);
  const std::uint64_t size = file.size();
  const SampleSizes sizes = SampleSizes::of(size);
  if (!sampler.read_head(file.read(0, sizes.head))) return std::nullopt;
  for (std::uint64_t i = 1; i <= kPiecesBetween; ++i) {
    const std::uint64_t offset = i * size / (kPiecesBetween + 1);
    sampler.read_piece(file.read(offset, sizes.piece), offset);
  }
  const std::uint64_t tail = size - std::min<std::uint64_t>(size, sizes.tail);
  sampler.read_piece(file.read(tail, sizes.tail), tail);
  return sampler.finish(size);
}

// A byte of a packed file usually is so many bytes of text.
constexpr std::uint64_t kGzipRatio = 14;
constexpr std::uint64_t kZstdRatio = 25;

// Samples a packed file by unpacking all of it: no place in it can be reached except from its
// beginning. Unpacking it twice and reading it once still takes two thirds of the time of reading
// it twice (ISA-L unpacks 3 GB/s a core, zstd 1.5).
std::optional<FileSurvey> sample_packed(const std::string& path, std::uint64_t stored_size,
                                        std::uint64_t usual_ratio,
                                        const std::vector<std::string>& shared_flows,
                                        FileWatch& watch) {
  Sampler sampler(path, shared_flows);
  const SampleSizes sizes = SampleSizes::of(usual_ratio * stored_size);
  const std::unique_ptr<ByteSource> source = open_input(path, &watch);
  std::string block(sizes.head, '\0');
  block.resize(source->read(block));
  if (!sampler.read_head(block)) return std::nullopt;
  std::uint64_t size = block.size();
  block.resize(std::max(sizes.piece, sizes.tail));
  std::string before(block.size(), '\0');  // the block before it
  std::size_t before_size = 0;
  std::uint64_t next_piece = 1;
  std::size_t got = 0;
  while ((got = source->read(block)) > 0) {
    if (source->stored_bytes_read() * (kPiecesBetween + 1) >= next_piece * stored_size) {
      sampler.read_piece(std::string_view(block).substr(0, std::min(got, sizes.piece)), size);
      ++next_piece;
    }
    size += got;
    if (got < block.size()) break;
    before_size = got;
    block.swap(before);
  }
  std::string tail = before.substr(0, before_size) + block.substr(0, got);
  tail.erase(0, tail.size() - std::min(tail.size(), sizes.tail));
  sampler.read_piece(tail, size - tail.size());
  return sampler.finish(size);
}

std::optional<FileSurvey> sample(const std::string& path,
                                 const std::vector<std::string>& shared_flows, FileWatch& watch) {
  const std::optional<SeekableFile> file = SeekableFile::open(path, &watch);
  if (!file) return std::nullopt;
  const std::string head = file->read(0, kSniffBytes);
  if (is_gzip(head)) return sample_packed(path, file->size(), kGzipRatio, shared_flows, watch);
  if (is_zstd(head)) return sample_packed(path, file->size(), kZstdRatio, shared_flows, watch);
  return sample_plain(path, *file, shared_flows);
}

}  // namespace

std::optional<std::vector<FileSurvey>> guess_surveys(const std::vector<std::string>& paths,
                                                     unsigned threads,
                                                     const std::vector<std::string>& shared_flows,
                                                     FileWatch& watch) {
  std::vector<FileSurvey> surveys(paths.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size() && !failed; i = next++) {
      try {
        std::optional<FileSurvey> survey = sample(paths[i], shared_flows, watch);
        if (survey)
          surveys[i] = std::move(*survey);
        else
          failed = true;
      } catch (const std::exception&) {
        failed = true;  // the whole survey will report what is wrong, in a thread that may throw
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(thread_count(threads), paths.size()); ++i)
      helpers.emplace_back(work);
    work();
  }
  if (failed) return std::nullopt;
  return surveys;
}

bool writes_the_same(const MergePlan& guess, const MergePlan& plan) {
  if (!have_same_head(guess, plan) || !guess.tracks.covers(plan.tracks) ||
      guess.has_objects != plan.has_objects || guess.order != plan.order)
    return false;
  // The offset has to be the same, too: problems of the event are reported there.
  const auto is_same_metadata = [](const KeptMetadata& a, const KeptMetadata& b) {
    return a.text == b.text && a.offset == b.offset;
  };
  for (std::size_t i = 0; i < plan.files.size(); ++i) {
    const EventPlan& guessed = guess.files[i];
    // X events around a B matter only if nothing closes that B.
    if (plan.surveys[i].open_begins > 0 && !guess.tracks.knows_begins(plan.tracks, i)) return false;
    if (guessed != plan.files[i] ||
        !std::ranges::equal(guess.surveys[i].metadata, plan.surveys[i].metadata, is_same_metadata))
      return false;
  }
  return true;
}

}  // namespace traceloom
