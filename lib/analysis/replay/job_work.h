// JobWork: what every rank of a job did on its host and its devices in the order of its launches,
// and where ranks meet. StepNetwork is made of it.
//
//   const JobWork job(run);
//   for (const LaunchedPiece& piece : job.ranks[0].pieces) use(piece.call_ns, piece.start_ns);
#pragma once

#include "analysis/mesh/mesh.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace traceloom {

enum class PieceKind : std::uint8_t { compute, copy, communication };

// Work of a device.
struct LaunchedPiece {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t call_ns = kNotGiven;  // begin of the call that launched it
  std::uint32_t label = 0;
  std::uint16_t stream = 0;  // place among the rank's streams
  PieceKind kind = PieceKind::compute;
  // Communication has so many of JobWork::parts of its rank, from this one on; a batched kernel of
  // messages has several.
  std::uint32_t first_part = 0;
  std::uint32_t parts = 0;

  // The moment by which pieces are in the order of their launches.
  std::int64_t launched_ns() const { return call_ns == kNotGiven ? start_ns : call_ns; }
};

// A call of the host that returns when its device has done something.
struct BlockingCall {
  Interval time;
  bool whole_device = false;  // it waits for all streams
};

struct RankWork {
  std::vector<LaunchedPiece> pieces;  // in the order of their launches
  std::vector<BlockingCall> blocks;   // by begin
  Intervals loaders;                  // waits for data, by begin
  std::uint16_t streams = 0;          // at most one more than are replayed
  std::uint16_t main_stream = 0;      // the stream with most time of kernels
  std::int64_t latency_ns = 0;        // the least time from the begin of a call to that of its work
};

// A collective, or a message between two ranks.
struct Meeting {
  Axis axis = Axis::other;  // that of its group
  bool is_message = false;
  bool is_eager = false;  // a message whose sender goes on before the receiver has come
  bool is_complete = false;
  std::string_view name;
  std::uint32_t group = 0;  // number in JobWork::groups, or for a message in JobWork::links
  std::uint32_t parts = 0;  // number of ranks whose pieces are known
  std::int64_t bytes = 0;
  std::int64_t transfer_ns = 0;  // of an eager message: from the begin of the send
  std::int64_t copy_ns = 0;      // of an eager message: the least time that the receiver takes
};

// A rank's piece in a meeting.
struct MeetingPart {
  Interval time;
  std::uint32_t meeting = 0;
  bool sends = false;  // it is the sender of a message
};

struct JobLink {
  std::int64_t from = 0;  // global ranks; messages of both ways are one link, from < to
  std::int64_t to = 0;
};

// One step that all ranks have, of each rank.
struct JobStep {
  StepKey key;
  bool counted = true;
  bool is_first = false;  // nothing is known of the step before
  std::vector<Step> of_rank;
  std::vector<std::int64_t> launches_end_ns;  // from there on the launches are the next step's
};

struct JobWork {
  explicit JobWork(const Run& run);

  std::vector<RankWork> ranks;  // as Run::ranks
  std::vector<JobStep> steps;   // those that all ranks have
  std::vector<Meeting> meetings;
  std::vector<std::vector<MeetingPart>> parts;  // of each rank, by time
  // The parts of a piece of a rank.
  std::span<const MeetingPart> parts_of(std::size_t rank, const LaunchedPiece& piece) const {
    return std::span(parts[rank]).subspan(piece.first_part, piece.parts);
  }
  std::vector<JobGroup> groups;
  std::vector<JobLink> links;
  // Time of all pieces of communication in steps that count; of those whose ranks are all known.
  std::int64_t communication_ns = 0;
  std::int64_t known_ns = 0;
  // What is not known, in words, the longest time first: "SendRecv without the other rank".
  std::vector<std::pair<std::string, std::int64_t>> unknown;

  // The part of the pieces whose launch is known. Without launches nothing tells what the host, and
  // a wait for data, holds up.
  double launches_share() const;
  // The part of time in communication with all its ranks; none where nobody communicates.
  std::optional<double> coverage() const;
};

inline constexpr double kLeastCoverage = 0.98;

// Returns why nothing can be said of the whole job; empty if something can: all ranks and the
// partners of 98 % of the communication are known, and clocks agree.
std::string find_refusal(const Run& run, const JobWork& job);

}  // namespace traceloom
