// GPU rows that share a pid with the threads of the CPU.
//
// torch gives each GPU a pid of its own, with the streams as tids. Composer copies torch's events
// and writes the rank over every pid (other mergers do so as well), and then stream 7 and thread 7
// are one row. What tells them apart again is the event: its category, and args.device.
//
//   gpu_of(event);                               // of each event, into TrackFacts::gpu_events
//   unfold_gpu_rows(survey);                     // when all events have been seen
#pragma once

#include "event/event.h"

#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

struct FileSurvey;

// True for the categories that Kineto writes on GPU rows only, today's and old ones.
bool is_gpu_category(std::string_view json_category);
// True for some of those that it writes on threads of the CPU only, the most frequent ones.
bool is_host_category(std::string_view json_category);
// The GPU that an event happened on: args.device as it is written, "" when the event does not say
// it; nullopt for events of other rows, and for flows, which have no category of their own.
std::optional<std::string_view> gpu_of(const Event& event);

// Gives GPU rows that share a pid with CPU threads tracks of their own in `survey`. That is so in
// files of Composer and of its merger (which have global_rank events), and for any other pid that
// has events of both, but torch's own processes of GPUs beside one that is labelled CPU. There the
// names that torch gave to processes are of no use either: the last one has overwritten the others,
// and Composer's own. A merge of ours has done this already.
void unfold_gpu_rows(FileSurvey& survey);

// Which row an event of a file with such tracks is on; one for all events of a chunk, in their
// order, because Kineto writes a flow event right behind the slice that it belongs to.
class GpuRowFinder {
 public:
  // As gpu_of(), for flows too: the row of the slice before it, if that begins there and then. An
  // end of a flow from CPU to GPU that stands elsewhere is taken to be on the GPU, with "". The
  // view is of the event, or valid until the next call.
  std::optional<std::string_view> find(const Event& event);
  // For the next chunk.
  void reset() { has_slice_ = false; }

 private:
  bool has_slice_ = false;
  std::string pid_;  // of the slice before
  std::string tid_;
  std::string ts_;
  bool is_on_gpu_ = false;
  std::string gpu_;
};

}  // namespace traceloom
