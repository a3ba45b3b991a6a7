#include "analysis/replay/job_work.h"

#include "analysis/devices/device_work.h"
#include "analysis/waits/step_roles.h"
#include "analysis/work/work_names.h"
#include "base/arithmetic.h"
#include "base/problems.h"
#include "base/units.h"
#include "per_rank/per_rank.h"
#include "run/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace traceloom {
namespace {

// A launch looks at all streams of its rank, so that more would take a square of their number.
constexpr std::size_t kMostStreams = 1'000;

void find_blocks(const Run& run, const RankEvents& rank, RankWork& work) {
  std::map<std::uint32_t, std::pair<std::int64_t, bool>> kinds;  // by label
  rank.for_each_call([&](const CallSpan& call) {
    const auto [kind, is_new] = kinds.try_emplace(call.label);
    if (is_new) {
      const std::string_view name = run.labels.name(call.label);
      kind->second = {least_blocking_ns(name), waits_for_device(name)};
    }
    if (call.end_ns - call.start_ns >= kind->second.first)
      work.blocks.push_back({call.interval(), kind->second.second});
  });
  std::ranges::sort(work.blocks, {}, [](const BlockingCall& call) {
    return std::pair(call.time.from_ns, call.time.to_ns);
  });
}

void find_pieces(const Run& run, const RankEvents& rank, RankWork& work) {
  const Launches launches(rank.own_parts());
  std::map<StreamKey, std::pair<std::uint16_t, std::int64_t>> streams;  // number, time of kernels
  std::int64_t latency_ns = std::numeric_limits<std::int64_t>::max();
  std::size_t count = 0;
  for (const EventColumns& part : rank.own_parts()) count += part.devices.size();
  work.pieces.reserve(count);
  const auto add = [&](Role role, const EventColumns& part, const DeviceSpan& span) {
    LaunchedPiece piece{span.start_ns, span.end_ns, kNotGiven, span.label};
    piece.kind = role == Role::communication ? PieceKind::communication
                 : role == Role::kernel      ? PieceKind::compute
                                             : PieceKind::copy;
    const auto [stream, is_new] = streams.try_emplace({span.device, span.stream});
    if (is_new)
      stream->second.first = static_cast<std::uint16_t>(std::min(streams.size() - 1, kMostStreams));
    piece.stream = stream->second.first;
    if (piece.kind == PieceKind::compute) stream->second.second += span.end_ns - span.start_ns;
    const CallSpan* const call = launches.find(part, span);
    if (call != nullptr && call->start_ns <= span.start_ns) {
      piece.call_ns = call->start_ns;
      latency_ns = std::min(latency_ns, span.start_ns - call->start_ns);
    }
    work.pieces.push_back(piece);
  };
  for_each_device_role(run, rank, add);
  std::ranges::stable_sort(work.pieces, {}, [](const LaunchedPiece& piece) {
    return std::pair(piece.launched_ns(), piece.start_ns);
  });
  work.latency_ns = work.pieces.empty() ? 0 : latency_ns;
  work.streams = static_cast<std::uint16_t>(std::min(streams.size(), kMostStreams + 1));
  std::int64_t most_ns = -1;
  for (const auto& [key, stream] : streams)
    if (stream.second > most_ns) std::tie(work.main_stream, most_ns) = stream;
}

RankWork find_work(const Run& run, const RankEvents& rank) {
  RankWork work;
  find_pieces(run, rank, work);
  find_blocks(run, rank, work);
  for (const HostSpan& span : find_loader_spans(rank)) work.loaders.push_back(span.interval());
  std::ranges::sort(work.loaders, {}, &Interval::from_ns);
  return work;
}

// Gives eager messages the time from the begin of their send until they are there, which shows only
// where the receiver waited for it: it came before the sender had gone on, so that nothing can have
// been there. Others get the median of their link.
void time_eager(const std::vector<Message>& messages, std::vector<Meeting>& meetings) {
  struct Link {
    std::int64_t copy_ns = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> times_ns = {};
  };
  std::map<std::uint32_t, Link> links;
  const std::size_t first = meetings.size() - messages.size();
  const auto each = [&](auto use) {
    for (std::size_t i = 0; i < messages.size(); ++i)
      if (meetings[first + i].is_eager)
        use(meetings[first + i], messages[i], links[meetings[first + i].group],
            messages[i].received.end_ns - messages[i].received.start_ns);
  };
  each([](const Meeting&, const Message&, Link& link, std::int64_t ns) {
    link.copy_ns = std::min(link.copy_ns, ns);
  });
  each([](Meeting& meeting, const Message& one, Link& link, std::int64_t ns) {
    meeting.copy_ns = link.copy_ns;
    meeting.transfer_ns = 0;
    if (one.received.start_ns >= one.sent.end_ns || ns * 2 < link.copy_ns * 3) return;
    meeting.transfer_ns = std::max<std::int64_t>(one.received.end_ns - one.sent.start_ns, 0);
    link.times_ns.push_back(meeting.transfer_ns);
  });
  for (auto& [number, link] : links) std::ranges::sort(link.times_ns);
  each([](Meeting& meeting, const Message&, Link& link, std::int64_t) {
    if (meeting.transfer_ns == 0 && !link.times_ns.empty())
      meeting.transfer_ns = link.times_ns[link.times_ns.size() / 2];
  });
}

class MeetingList {
 public:
  MeetingList(const Run& run, JobWork& job) : run_(run), mesh_(find_mesh(run)), job_(job) {}

  void add(const Collective& what) {
    const bool is_complete = what.complete && !what.is_launch_only &&
                             static_cast<std::int64_t>(what.parts.size()) >= what.group_size;
    Meeting meeting{mesh_.axis_of(what.group), false, false, is_complete, what.name};
    meeting.group = group_of(what, meeting.axis);
    meeting.parts = static_cast<std::uint32_t>(what.parts.size());
    meeting.bytes = what.bytes;
    meeting.transfer_ns = what.latency_ns();
    for (const CollectivePart& part : what.parts) add_part(part, false);
    job_.meetings.push_back(meeting);
  }
  void add(const Message& one) {
    Meeting meeting{Axis::pipeline, true, one.is_eager, true, "message"};
    const auto [link, is_new] = links_.try_emplace(std::minmax(one.from, one.to),
                                                   static_cast<std::uint32_t>(links_.size()));
    if (is_new) job_.links.push_back({link->first.first, link->first.second});
    meeting.group = link->second;
    meeting.parts = 2;
    meeting.bytes = one.bytes;
    meeting.transfer_ns = one.transfer_ns;
    add_part(one.sent, true);
    add_part(one.received, false);
    job_.meetings.push_back(meeting);
  }

 private:
  // Returns the number of a group; one without a name is known by its ranks.
  std::uint32_t group_of(const Collective& what, Axis axis) {
    std::vector<std::int64_t> ranks;
    for (const CollectivePart& part : what.parts) ranks.push_back(run_.ranks[part.rank].rank);
    const auto [number, is_new] =
        groups_.try_emplace({axis, ranks}, static_cast<std::uint32_t>(groups_.size()));
    if (is_new)
      job_.groups.push_back({axis, std::string(what.group.name),
                             std::string(what.group.description), std::move(ranks)});
    return number->second;
  }
  void add_part(const CollectivePart& part, bool sends) {
    job_.parts[part.rank].push_back(
        {{part.start_ns, part.end_ns}, static_cast<std::uint32_t>(job_.meetings.size()), sends});
  }

  const Run& run_;
  const Mesh& mesh_;
  JobWork& job_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> links_;
  std::map<std::pair<Axis, std::vector<std::int64_t>>, std::uint32_t> groups_;
};

// Gives each piece of communication its parts. Of pieces that begin and end together, on several
// streams or because they take no time, each has one.
void give_parts(const std::vector<MeetingPart>& parts, std::vector<LaunchedPiece>& pieces) {
  using Times = std::pair<std::int64_t, std::int64_t>;
  const auto times_of = [](const MeetingPart& part) {
    return Times(part.time.from_ns, part.time.to_ns);
  };
  std::map<Times, std::vector<LaunchedPiece*>> together;
  for (LaunchedPiece& piece : pieces) {
    if (piece.kind != PieceKind::communication) continue;
    const Times times(piece.start_ns, piece.end_ns);
    const auto all = std::ranges::equal_range(parts, times, {}, times_of);
    piece.first_part = static_cast<std::uint32_t>(all.begin() - parts.begin());
    piece.parts = static_cast<std::uint32_t>(all.size());
    if (piece.parts > 1) together[times].push_back(&piece);
  }
  for (const auto& [times, same] : together)
    if (same.size() == same.front()->parts)
      for (std::size_t i = 0; i < same.size(); ++i) {
        same[i]->first_part += static_cast<std::uint32_t>(i);
        same[i]->parts = 1;
      }
}

// Returns the steps that all ranks have; those between two that not all have are a break.
std::vector<JobStep> shared_steps(const Run& run) {
  std::map<StepKey, JobStep> found;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    for (const Step& step : run.ranks[rank].steps.list) {
      JobStep& shared = found[key_of(step)];
      // Another rank lacks it, or this one has it twice.
      if (shared.of_rank.size() != rank) continue;
      shared.key = key_of(step);
      shared.counted = shared.counted && step.counted;
      shared.of_rank.push_back(step);
    }
  }
  std::vector<JobStep> steps;
  for (auto& [key, step] : found)
    if (step.of_rank.size() == run.ranks.size()) steps.push_back(std::move(step));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    JobStep& step = steps[i];
    for (std::size_t rank = 0; rank < step.of_rank.size(); ++rank) {
      const Step& own = step.of_rank[rank];
      const bool follows = i > 0 && steps[i - 1].of_rank[rank].time.to_ns == own.time.from_ns;
      step.is_first |= !follows;
      std::int64_t end_ns = std::max(own.time.to_ns, own.host.to_ns);
      if (i + 1 < steps.size()) {
        const Step& next = steps[i + 1].of_rank[rank];
        end_ns = std::min(end_ns, std::min(next.time.from_ns, next.host.from_ns));
      }
      step.launches_end_ns.push_back(end_ns);
    }
  }
  return steps;
}

// Adds up what is known of the communication of a rank in the steps that count.
void measure(const Run& run, std::size_t rank, JobWork& job,
             std::map<std::string, std::int64_t>& unknown) {
  Intervals steps;
  for (const JobStep& step : job.steps)
    if (step.counted) steps.push_back(step.of_rank[rank].time);
  for (const LaunchedPiece& piece : job.ranks[rank].pieces) {
    if (piece.kind != PieceKind::communication) continue;
    const auto step = std::ranges::upper_bound(steps, piece.start_ns, {}, &Interval::from_ns);
    if (step == steps.begin() || piece.start_ns >= step[-1].to_ns) continue;
    const std::int64_t ns = piece.end_ns - piece.start_ns;
    add_to(job.communication_ns, ns);
    const bool is_known =
        piece.parts > 0 &&
        std::ranges::all_of(job.parts_of(rank, piece), [&](const MeetingPart& part) {
          return job.meetings[part.meeting].is_complete;
        });
    add_to(is_known ? job.known_ns : unknown[std::string(run.labels.name(piece.label))], ns);
  }
}

constexpr std::int64_t kLongestJob = std::numeric_limits<std::int64_t>::max() / 4;

// Returns the time of all steps and pieces. Those of a replay are sums of some of it, so that they
// fit into int64 if a multiple of this does.
std::int64_t all_ns(const Run& run, const JobWork& job) {
  std::int64_t sum_ns = 0;
  for (const RankEvents& rank : run.ranks)
    for (const Step& step : rank.steps.list)
      add_to(sum_ns, std::max(length_ns(step.time), length_ns(step.host)));
  for (const RankWork& rank : job.ranks)
    for (const LaunchedPiece& piece : rank.pieces) add_to(sum_ns, piece.end_ns - piece.start_ns);
  return sum_ns;
}

}  // namespace

JobWork::JobWork(const Run& run) : steps(shared_steps(run)), parts(run.ranks.size()) {
  ranks = per_rank<RankWork>(run, all_ranks(run),
                             [&](std::size_t rank) { return find_work(run, run.ranks[rank]); });
  const MatchedCollectives& found = match_collectives(run);
  MeetingList list(run, *this);
  for (const Collective& what : found.matched) list.add(what);
  for (const Message& one : found.messages) list.add(one);
  time_eager(found.messages, meetings);
  std::map<std::string, std::int64_t> missing;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::ranges::sort(parts[rank], {}, [](const MeetingPart& part) {
      return std::tuple(part.time.from_ns, part.time.to_ns, part.meeting);
    });
    give_parts(parts[rank], ranks[rank].pieces);
    measure(run, rank, *this, missing);
  }
  unknown.assign(missing.begin(), missing.end());
  std::ranges::stable_sort(unknown, std::greater(), [](const auto& one) { return one.second; });
}

double JobWork::launches_share() const {
  std::size_t pieces = 0;
  std::size_t launched = 0;
  for (const RankWork& rank : ranks) {
    pieces += rank.pieces.size();
    launched += static_cast<std::size_t>(std::ranges::count_if(
        rank.pieces, [](const LaunchedPiece& piece) { return piece.call_ns != kNotGiven; }));
  }
  return ratio(static_cast<std::int64_t>(launched), static_cast<std::int64_t>(pieces));
}

std::optional<double> JobWork::coverage() const {
  if (communication_ns == 0) return std::nullopt;
  return ratio(known_ns, communication_ns);
}

std::string find_refusal(const Run& run, const JobWork& job) {
  const Mesh& mesh = find_mesh(run);
  if (std::ranges::none_of(job.steps, &JobStep::counted))
    return "there is no step that all ranks have, and that counts";
  if (run.is_coarse())
    return "operations of a coarse time line are replayed by trace-stats what-if alone";
  if (std::ranges::all_of(job.ranks, [](const RankWork& rank) { return rank.pieces.empty(); }))
    return "these traces hold no work of devices, which is what is replayed";
  if (std::ranges::any_of(job.ranks,
                          [](const RankWork& rank) { return rank.streams > kMostStreams; }))
    return fmt::format("a rank has work on more than {} streams", kMostStreams);
  if (all_ns(run, job) > kLongestJob)
    return "the work of all ranks takes more than 73 years, so that its times do not add up";
  if (!mesh.missing.empty())
    return fmt::format(
        "{} of the job {} not in these traces, so what the others wait for is not known: record "
        "all ranks",
        ranks_words(mesh.missing, RankStyle::sentence), plural(mesh.missing.size(), "is", "are"));
  std::vector<std::int64_t> left = run.ranks_of_files();
  for (const RankEvents& rank : run.ranks) std::erase(left, rank.rank);
  if (!left.empty())
    return fmt::format("{} {} left out by --rank, so what the others wait for is not known",
                       ranks_words(left, RankStyle::sentence), plural(left.size(), "is", "are"));
  if (const double known = job.coverage().value_or(1); known < kLeastCoverage)
    return fmt::format(
        "the partners of {:.1f} % of the time in communication are not known (most "
        "of it in '{}'), so that waiting would be taken for work",
        100 * (1 - known), job.unknown.front().first);
  if (const RunFile* const file = run.file_with_set_clock())
    return std::string(file->clock_problems.explanation(Problem::clock_conflict));
  if (!run.common_clock)
    return "the clocks of the ranks could not be brought together (see trace-stats info)";
  return "";
}

}  // namespace traceloom
