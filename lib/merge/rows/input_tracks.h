// The tracks of an input: how they are told apart, also on GPUs, and what metadata events say
// of them.
#pragma once

#include "base/string_table.h"
#include "event/event.h"
#include "merge/facts/file_survey.h"

#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// track_key(): the text by which a track of an input is known: pid and tid as JSON text, and for
// GPU rows that share a pid with CPU threads (input_tracks.h) the GPU.
//
//   track_key("1166", "7", scratch)   add_gpu(scratch, "0")

// Separates the parts of a key: JSON text never contains it.
inline constexpr char kTrackKeyPart = '\0';

// Returns a view of `scratch`. `pid` and `tid` are empty if the event has none.
inline std::string_view track_key(std::string_view pid, std::string_view tid,
                                  std::string& scratch) {
  scratch.assign(pid);
  scratch.push_back(kTrackKeyPart);
  scratch.append(tid);
  return scratch;
}

// Appends a GPU to `key`, which is a track_key().
inline std::string_view add_gpu(std::string& key, std::string_view said_gpu) {
  key.push_back(kTrackKeyPart);
  key.append(said_gpu);
  return key;
}

// Returns the key without its GPU, if it has one.
inline std::string_view without_gpu(std::string_view key) {
  const std::size_t tid = key.find(kTrackKeyPart) + 1;
  return key.substr(0, key.find(kTrackKeyPart, tid));
}

// Finds GPU rows that share a pid with the threads of the CPU, and separates them.
//
// torch gives each GPU a pid of its own, with the streams as tids. Composer copies torch's events
// and writes the rank over every pid (other mergers do so as well), and then stream 7 and thread 7
// are one row. The events still say which row they belong to, by their category and args.device.
//
//   gpu_of(event);                               // for each event, into TrackFacts::gpu_events
//   unfold_gpu_rows(survey);                     // after all events have been seen

struct FileSurvey;

// True for the most frequent categories that it writes on threads of the CPU only.
bool is_host_category(std::string_view json_category);
// A merge asks gpu_of() twice an event, so a letter or two of the category decide for most events
// of threads. Few of their categories share a letter with those of GPUs (cuda_runtime with
// cuda_sync).
inline bool may_be_on_gpu(const Event& event) {
  const std::string_view category = event.text(Key::cat);
  switch (category.size() > 6 ? category[1] : '\0') {
    case 'k':
    case 'g':
    case 'K':
    case 'M':
      return true;
    case 'c':
      return category[6] == 's';
    default:
      return false;
  }
}
// Returns gpu_of() an event that may_be_on_gpu().
std::optional<std::string_view> gpu_of_candidate(const Event& event);
// Returns the GPU that an event happened on: args.device as it is written, or "" if the event does
// not say it. Returns nullopt for events of other rows, and for flows, which have no category of
// their own.
inline std::optional<std::string_view> gpu_of(const Event& event) {
  return may_be_on_gpu(event) ? gpu_of_candidate(event) : std::nullopt;
}

// Gives GPU rows that share a pid with CPU threads tracks of their own in `survey`. Rows are shared
// in files of Composer and of its merger (which have global_rank events), and under any other pid
// that has events of both kinds, except in torch's own processes of GPUs if another one is labelled
// CPU. Where rows are shared, the names that torch gave to processes are useless, too: the last one
// has overwritten the others, and Composer's own. A merge of ours has been separated already.
void unfold_gpu_rows(FileSurvey& survey);

// Finds the row of an event in a file with such tracks. Use one finder for all events of a chunk,
// in their order, because Kineto writes a flow event right after the slice that it belongs to.
// Their texts must stay valid until reset().
class GpuRowFinder {
 public:
  // Returns what gpu_of() returns. For a flow it returns the row of the slice before it, if that
  // slice begins on the same thread at the same time. An end of a flow from CPU to GPU that stands
  // elsewhere is assumed to be on the GPU, with "". The view points into the text of an event, or
  // is empty.
  std::optional<std::string_view> find(const Event& event);
  // Prepares for the next chunk.
  void reset() { has_slice_ = false; }

 private:
  bool has_slice_ = false;
  std::string_view pid_;  // the slice before
  std::string_view tid_;
  std::string_view ts_;
  std::optional<std::string_view> gpu_;  // what gpu_of() returned for it
};

// Adds to the survey what a metadata event says of a track or process of the file: its name,
// labels, place in the order of rows, and what a merge has noted of the row. `tracks` are the
// track_key()s of the survey's tracks; other tracks have no row and are skipped. Call it in file
// order: the last event of a kind stands.
void note_metadata(const Event& event, const StringTable& tracks, FileSurvey& survey);

}  // namespace traceloom
