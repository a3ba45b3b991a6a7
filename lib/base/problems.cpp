#include "base/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace traceloom {

Error::Error(const std::string& path, const std::string& problem)
    : std::runtime_error(fmt::format("{}: {}", path, problem)), path_(path), problem_(problem) {}

Error::Error(const std::string& path, std::uint64_t offset_bytes, const std::string& problem)
    : std::runtime_error(fmt::format("{}: byte {}: {}", path, offset_bytes, problem)),
      path_(path),
      offset_bytes_(offset_bytes),
      problem_(problem) {}

Error with_advice(const Error& error, const std::string& advice) {
  const std::string problem = error.problem() + "; " + advice;
  return error.offset_bytes() ? Error(error.path(), *error.offset_bytes(), problem)
                              : Error(error.path(), problem);
}

Error system_error(const std::string& path, int error_number) {
  return {path, std::generic_category().message(error_number)};
}

namespace {

using enum Severity;

// The rows stand in the order of enum Problem: describe() relies on it, and a test checks the
// names.
constexpr std::array<ProblemKind, static_cast<std::size_t>(Problem::count_)> kProblemKinds{{
    {"missing_bracket", info, "the closing ] is missing (legal: the writer was stopped)"},
    {"cut_event", loss, "the file is cut inside an event; everything before it was kept"},
    {"cut_object", loss,
     "the file is cut before its object ends; keys after the events (such as a base time) are "
     "lost"},
    {"empty_trace", notice, "the trace holds no event"},
    {"trailing_comma", notice, "comma before a closing bracket; ignored"},
    {"extra_comma", notice, "comma without an event; ignored"},
    {"missing_comma", notice, "no comma between two events; read as two events"},
    {"second_document", notice,
     "a second JSON document follows the first; its events were read too"},
    {"second_trace_events", notice,
     "the key traceEvents occurs twice; the events of both were read"},
    {"trailing_garbage", loss, "text after the end of the trace; ignored"},
    {"top_level_dropped", loss, "a top-level value could not be kept"},
    {"subtrace_dropped", loss,
     "embedded trace (systemTraceEvents, ...) whose clock cannot be moved; dropped"},
    {"bad_time_unit", notice, "displayTimeUnit that is neither ms nor ns; replaced"},
    {"gzip_cut", loss, "the gzip data is cut off; what could be unpacked was kept"},
    {"gzip_damaged", loss,
     "the gzip data is damaged; what comes before the damage was kept; copy the file again"},
    {"gzip_checksum", loss,
     "the gzip checksum does not match; the text may be damaged; copy the file again"},
    {"gzip_trailing_garbage", notice, "bytes after the end of the gzip data; ignored"},
    {"zstd_cut", loss, "the zstd data is cut off; what could be unpacked was kept"},
    {"zstd_damaged", loss,
     "the zstd data is damaged; what comes before the damage was kept; copy the file again"},
    {"zstd_checksum", loss,
     "the zstd checksum does not match; the text may be damaged; copy the file again"},
    {"zstd_trailing_garbage", notice, "bytes after the end of the zstd data; ignored"},
    {"packed_twice", info, "compressed twice; unpacked twice"},
    {"not_an_object", loss, "element of the event list that is not an object; skipped"},
    {"empty_object", info, "empty object in the event list; skipped"},
    {"malformed_event", loss, "event that is not JSON; skipped"},
    {"event_too_large", loss,
     "event larger than the limit (128 MiB, or a tenth of --max-memory); skipped"},
    {"no_phase", loss, "event without a phase (ph); skipped"},
    {"unknown_phase", info, "event with a phase that the format does not know; kept as it is"},
    {"bad_timestamp", loss, "event without a usable ts; skipped"},
    {"outlying_timestamp", loss,
     "event with a ts more than 6 days from those of most others, which no run pauses; skipped"},
    {"bad_duration", notice, "dur that is not a number; 0 was used"},
    {"missing_duration", notice,
     "complete event (X) without dur; drawn to the end of its thread, counted as 0"},
    {"negative_duration", notice, "negative dur; 0 was used"},
    {"never_ended", notice,
     "dur that ends beyond the range of time: the event never ended; drawn to the end of its file, "
     "and not counted as a span"},
    {"broken_negative", notice,
     "negative time with its sign in the middle, as Kineto writes it (0.-66); read as it is meant"},
    {"duplicate_key", notice, "key that occurs twice in an event; the last one was used"},
    {"bad_args", notice,
     "args that are not JSON, or nest deeper than 512; kept as text under \"unparsed\""},
    {"bad_field", notice,
     "field that viewers refuse (no name, id2 without local or global, tts that is not a number, "
     "...); fixed, or kept as source_..."},
    {"bad_counter", loss, "counter value that is not a number; dropped"},
    {"invalid_utf8", notice, "bytes that are not UTF-8; replaced by U+FFFD"},
    {"control_character", notice, "raw control character in a string; escaped"},
    {"bad_escape", notice, "invalid escape in a string; repaired"},
    {"not_json_value", notice,
     "value that JSON does not have (NaN, Infinity, ...); written as a string"},
    {"end_without_begin", notice, "end event (E) without a begin event (B); dropped"},
    {"begin_without_end", notice,
     "begin event (B) that is never closed; ended with the slice around it, and not counted as a "
     "span"},
    {"out_of_order", notice, "begin or end event too far out of time order to be paired exactly"},
    {"partial_overlap", info,
     "slice that overlaps the one before it on its thread, neither inside the other; left as it "
     "is"},
    {"arrow_without_start", info,
     "end of an arrow (f) without a start; bound to the slice around it, as Perfetto would draw it "
     "from anywhere"},
    {"dangling_arrow", info,
     "arrow (s, t, f of one id) of which one end is missing; kept, but viewers draw none"},
    {"backward_arrow", notice,
     "arrow that ends before it starts (do the clocks of GPU and host, or of ranks, disagree?); "
     "kept as it is"},
    {"unjudged_arrow", info,
     "end of an arrow (s, t, f) that was not compared: too many arrows were open before it, so the "
     "other counts of arrows are \"at least\""},
    {"displaced_arrow", notice,
     "end of an arrow (f without \"bp\": \"e\") after the slice of its time, so that viewers bind "
     "it to the next one (did a program sort the trace by time?); kept as it is"},
    {"overlong_work", notice,
     "work of a device that ends over 1 ms after the next work of its stream begins, which cannot "
     "be; kept as it is, and cut there for statistics of steps and devices"},
    {"lost_work", loss,
     "launch of kernels whose device work is missing (the profiler lost it); its step, if marked, "
     "does not count"},
    {"rank_from_position", notice,
     "the file does not say its rank; its position among the inputs was used, so a missing rank "
     "cannot be seen; RANK=path names it"},
    {"same_rank_at_once", loss,
     "the file is of the same rank and the same time as another, so every other command refuses "
     "them; RANK=path says whose it is"},
    {"several_runs", notice,
     "the inputs are of several runs, which count together; name the files or the folder of one "
     "run"},
    {"merged_elsewhere", notice,
     "another tool's merge of several ranks, which count as one here; give the files of the ranks"},
    {"rank_disagrees", notice,
     "sources disagree about the rank; the stronger one was used; RANK=path overrules it"},
    {"ranks_in_one_pid", notice,
     "rank that a merge of merges put under the pid of another rank; its threads were separated by "
     "their global_rank"},
    {"repeated", notice, "the input repeats events of other inputs; left out"},
    {"sync_conflict", notice, "more than one clock sync; the first was used"},
    {"bad_sync", notice, "clock sync that is not a usable number; treated as missing"},
    {"bad_base", notice,
     "base time (baseTimeNanoseconds, beginningOfTime) that is not a usable number; treated as "
     "missing"},
    {"bad_cycles", notice,
     "the notes of an earlier merge on its cycles are damaged; all cycles use the first clock "
     "sync"},
    {"bad_rounds", notice, "impossible clock-sync rounds (was the clock changed?); ignored"},
    {"no_clock", notice,
     "nothing shows how this clock relates to the others; not shifted; trace-merge --offset "
     "RANK=TIME shifts "
     "it"},
    {"shifted_clock", notice,
     "the clock was shifted to fit the collectives; trace-merge --align base leaves it"},
    {"clock_conflict", notice,
     "collectives contradict each other (was a clock changed?); the clock is left as it is"},
    {"no_common_collective", notice,
     "no collective or message shows how far this clock is from the others of the run, only a base "
     "time or nothing; left as it is"},
    {"vague_collectives", info,
     "collectives and messages do not show how far this clock is from the others; left as it is"},
    {"ranks_apart", notice,
     "these ranks have no event while the lowest rank has some; is their clock right?"},
    {"base_restored", notice,
     "relative times without a base in the file; the base was found again"},
    {"base_guessed", notice,
     "relative times that fit no base; placed at the rank's clock sync, which is a guess"},
    {"clock_step", notice,
     "the clock was set between this clock sync and the one before; the offset is not "
     "interpolated across that"},
    {"far_sync", notice, "clock sync far from the others (from another run?)"},
    {"wide_sync", info,
     "the clock sync is uncertain: the ranks may be more than a millisecond apart"},
    {"world_size_disagrees", notice,
     "the world size differs from that of the files before (from another job?)"},
    {"missing_rank", notice, "no input for this rank; add its file if it exists"},
    {"inexact_timestamp", notice,
     "ts of 2^42 us (50.9 days) or more with decimals; viewers round it"},
    {"far_timestamp", notice,
     "whole ts of 2^42 us (50.9 days) or more; exact, but viewers show no decimals that far from "
     "the origin"},
    {"events_lost", loss, "event that was recorded but could not be written; the file lacks it"},
    {"events_dropped", loss,
     "event that found no room in the recorder's memory; the file lacks it (raise pool_bytes, or "
     "record less)"},
    {"events_unnamed", loss, "event of a killed process whose name found no room in the journal"},
    {"events_damaged", loss,
     "event of a killed process that was damaged in its journal and is lost; the others are here "
     "(does another program write to the journal's folder?)"},
    {"journal_kept", loss,
     "journal of a killed process that could not be recovered; it is kept, and its events are "
     "missing"},
}};

}  // namespace

const ProblemKind& describe(Problem problem) {
  return kProblemKinds[static_cast<std::size_t>(problem)];
}

const ProblemCounts::Met* ProblemCounts::find(Problem problem) const {
  const auto at = std::ranges::lower_bound(met_, problem, {}, &Met::problem);
  return at != met_.end() && at->problem == problem ? &*at : nullptr;
}

void ProblemCounts::add(Problem problem, std::uint64_t offset_bytes, std::uint64_t count) {
  if (count == 0) return;
  auto met = std::ranges::lower_bound(met_, problem, {}, &Met::problem);
  if (met == met_.end() || met->problem != problem)
    met = met_.insert(met, {problem, 0, offset_bytes, {}});
  met->first_offset = std::min(met->first_offset, offset_bytes);
  met->count += count;
}

void ProblemCounts::add(const ProblemCounts& other) {
  for (const Met& met : other.met_) {
    add(met.problem, met.first_offset, met.count);
    explain(met.problem, met.words);
  }
}

void ProblemCounts::explain(Problem problem, std::string words) {
  const auto met = std::ranges::find(met_, problem, &Met::problem);
  if (met != met_.end() && met->words.empty()) met->words = std::move(words);
}

void ProblemCounts::forget(Problem problem) {
  std::erase_if(met_, [problem](const Met& met) { return met.problem == problem; });
}

std::uint64_t ProblemCounts::count(Problem problem) const {
  const Met* const met = find(problem);
  return met == nullptr ? 0 : met->count;
}

std::uint64_t ProblemCounts::first_offset(Problem problem) const {
  const Met* const met = find(problem);
  return met == nullptr ? 0 : met->first_offset;
}

std::string_view ProblemCounts::explanation(Problem problem) const {
  const Met* const met = find(problem);
  return met == nullptr ? std::string_view() : std::string_view(met->words);
}

std::vector<Problem> ProblemCounts::kinds() const {
  std::vector<Problem> kinds;
  for (const Met& met : met_) kinds.push_back(met.problem);
  return kinds;
}

bool ProblemCounts::has_loss() const {
  return std::ranges::any_of(met_,
                             [](const Met& met) { return describe(met.problem).severity == loss; });
}

}  // namespace traceloom
