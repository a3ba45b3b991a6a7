#include "oracle/waits.h"

#include "oracle/json_value.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace traceloom::oracle {
namespace {

using Times = std::set<std::int64_t>;  // microseconds

struct Piece {
  std::string group;
  std::string seq;
  std::size_t rank;
  std::int64_t from;
  std::int64_t to;

  std::int64_t length() const { return to - from; }
};
using Pieces = std::vector<Piece>;

struct Trace {
  std::map<int, std::pair<std::int64_t, std::int64_t>> steps;  // keyed by number
  Pieces pieces;
  Times work;  // work of the device, except collectives
};

void add_times(Times& times, std::int64_t from, std::int64_t to) {
  for (std::int64_t us = from; us < to; ++us) times.insert(us);
}

Trace read_trace(const std::string& text, std::size_t rank) {
  Trace trace;
  const Json document = parse_json(text);
  for (const Json& event : document.items) {
    const std::int64_t from = std::stoll(event.find("ts")->text);
    const std::int64_t to = from + std::stoll(event.find("dur")->text);
    if (event.find("cat")->text == "user_annotation") {
      const std::string& name = event.find("name")->text;
      trace.steps[std::stoi(name.substr(name.find('#') + 1))] = {from, to};
    } else if (event.find("args") == nullptr) {
      add_times(trace.work, from, to);
    } else {
      const Json& args = *event.find("args");
      trace.pieces.push_back(
          {args.find("Process Group Name")->text, args.find("Seq")->text, rank, from, to});
    }
  }
  return trace;
}

// The collective that a piece is a part of.
Pieces parts_of(const Piece& piece, const Pieces& all) {
  Pieces parts;
  for (const Piece& other : all)
    if (other.group == piece.group && other.seq == piece.seq) parts.push_back(other);
  return parts;
}

bool is_complete(const Piece& piece, const Pieces& all) {
  std::size_t most = 0;
  for (const Piece& other : all)
    if (other.group == piece.group) most = std::max(most, parts_of(other, all).size());
  return most > 1 && parts_of(piece, all).size() == most;
}

bool tell_enough(const Pieces& all, std::size_t ranks) {
  bool any = false;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Times complete;
    Times total;
    bool has_complete = false;
    for (const Piece& piece : all) {
      if (piece.rank != rank) continue;
      add_times(total, piece.from, piece.to);
      if (!is_complete(piece, all)) continue;
      has_complete = true;
      add_times(complete, piece.from, piece.to);
    }
    if (!has_complete || 2 * complete.size() < total.size()) return false;
    any = true;
  }
  return any;
}

// Returns the rank that spent the least time in it; of several, the first.
const Piece& last_of(const Pieces& parts) {
  const Piece* last = nullptr;
  for (const Piece& part : parts)
    if (last == nullptr || part.length() < last->length()) last = &part;
  return *last;
}

std::optional<int> step_of(const Piece& piece, const Trace& trace) {
  for (const auto& [number, times] : trace.steps)
    if (times.first <= piece.from && piece.from < times.second) return number;
  return std::nullopt;
}

std::int64_t nanoseconds(const Times& times) {
  return static_cast<std::int64_t>(times.size()) * 1000;
}

struct Waited {
  Times all;
  Times exposed;
  std::int64_t longer = 0;  // excess of its communication over that of the rank for which it waits
};

// Returns the part of the wait that is within the excess.
std::int64_t felt(const Waited& waited) {
  return std::clamp(waited.longer, nanoseconds(waited.exposed), nanoseconds(waited.all));
}

// A job, and values computed from it that are needed often.
struct Job {
  std::vector<Trace> traces;
  Pieces all;
  std::vector<Times> waited;  // exposed times by rank
  // The part of it that one rank delayed, keyed by the waiting rank and that one.
  std::map<std::pair<std::size_t, std::size_t>, Times> delayed_by;
};

bool has_part(const Piece& piece, std::size_t rank, const Pieces& all) {
  const Pieces parts = parts_of(piece, all);
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Piece& part) { return part.rank == rank; });
}

bool is_in_group(std::size_t rank, const std::string& group, const Pieces& all) {
  return std::any_of(all.begin(), all.end(), [&](const Piece& piece) {
    return piece.rank == rank && piece.group == group && is_complete(piece, all);
  });
}

// The communication of one rank in one step, in complete collectives of all groups or of those that
// lack one rank: the time that no work hides, and the time after all ranks have come.
struct Communication {
  std::int64_t exposed = 0;
  std::int64_t latency = 0;
};

Communication communication_of(std::size_t rank, int step, std::optional<std::size_t> without,
                               const Job& job) {
  const auto& [from, to] = job.traces[rank].steps.at(step);
  Communication found;
  Times exposed;
  for (const Piece& piece : job.all) {
    if (piece.rank != rank || !is_complete(piece, job.all)) continue;
    if (without && is_in_group(*without, piece.group, job.all)) continue;
    for (std::int64_t us = piece.from; us < piece.to; ++us)
      if (from <= us && us < to && !job.traces[rank].work.contains(us)) exposed.insert(us);
    if (from <= piece.from && piece.from < to)
      found.latency += 1000 * last_of(parts_of(piece, job.all)).length();
  }
  found.exposed = nanoseconds(exposed);
  return found;
}

// Returns the excess without the communication of either rank in groups of its own.
std::int64_t longer(std::size_t waiting, std::size_t last, int step, const Job& job) {
  const Communication own = communication_of(waiting, step, last, job);
  const Communication others = communication_of(last, step, waiting, job);
  const std::int64_t more = own.latency - others.latency;
  return communication_of(waiting, step, std::nullopt, job).exposed -
         std::clamp<std::int64_t>(more, 0, own.exposed) -
         communication_of(last, step, std::nullopt, job).exposed +
         std::clamp<std::int64_t>(-more, 0, others.exposed);
}

// The rank that came last in the collective of a piece, and in which step; none for itself.
std::optional<std::pair<Piece, int>> waits_for(const Piece& piece, const Job& job) {
  if (!is_complete(piece, job.all)) return std::nullopt;
  const Pieces parts = parts_of(piece, job.all);
  const Piece& latest = last_of(parts);
  const std::optional<int> step = step_of(latest, job.traces[latest.rank]);
  if (latest.rank == piece.rank || !step) return std::nullopt;
  return std::pair(latest, *step);
}

// Returns the time since a rank last left a collective with `other` (or since the step's begin)
// until its part of another collective begins.
std::int64_t waited_before(const Piece& part, std::size_t other, int step, const Job& job) {
  std::optional<std::int64_t> met;
  for (const Piece& piece : job.all)
    if (piece.rank == part.rank && piece.to <= part.from && is_complete(piece, job.all) &&
        has_part(piece, other, job.all))
      met = std::max(met.value_or(piece.to), piece.to);
  std::int64_t sum = 0;
  const std::int64_t begin = met.value_or(job.traces[part.rank].steps.at(step).first);
  for (const std::int64_t us : job.waited[part.rank]) sum += begin <= us && us < part.from ? 1 : 0;
  return sum;
}

// Returns the begin of a wait for which the last rank itself had waited for others.
std::int64_t not_its_own(const Piece& piece, const Piece& last, int step, const Job& job) {
  const std::int64_t us =
      waited_before(last, piece.rank, step, job) - waited_before(piece, last.rank, step, job);
  return std::clamp<std::int64_t>(us, 0, piece.to - last.length() - piece.from);
}

// Returns the least time that any rank in the collective of a piece waits between it and the step's
// end, but for what is again the delay of the rank that came last in it.
std::int64_t waited_after(const Piece& piece, int step, const Job& job) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const Pieces parts = parts_of(piece, job.all);
  const std::size_t last = last_of(parts).rank;
  for (const Piece& part : parts) {
    std::int64_t sum = 0;
    const std::int64_t end = job.traces[part.rank].steps.at(step).second;
    const auto is_after = [&](std::int64_t us) { return part.to <= us && us < end; };
    sum += std::ranges::count_if(job.waited[part.rank], is_after);
    if (const auto found = job.delayed_by.find({part.rank, last}); found != job.delayed_by.end())
      sum -= std::ranges::count_if(found->second, is_after);
    least = std::min(least, sum);
  }
  return least;
}

void add_exposed(Times& exposed, std::int64_t from, std::int64_t to, const Trace& trace) {
  for (std::int64_t us = from; us < to; ++us)
    if (!trace.work.contains(us)) exposed.insert(us);
}

// Returns the waits of a rank for others in a step.
Waited waiting_of(std::size_t rank, int step, const Job& job) {
  Waited waited;
  for (const Piece& piece : job.all) {
    const auto last = waits_for(piece, job);
    if (piece.rank != rank || !last || last->second != step) continue;
    const std::int64_t end = piece.to - last->first.length();
    add_times(waited.all, piece.from, end);
    add_exposed(waited.exposed, piece.from, end, job.traces[rank]);
    waited.longer = std::max(waited.longer, longer(rank, last->first.rank, step, job));
  }
  return waited;
}

// Returns the waits of ranks for `last` in a step, without the waits of `last` itself for others.
std::map<std::size_t, Waited> waiting_for(std::size_t last, int step, const Job& job) {
  std::map<std::size_t, Waited> waiting;
  for (const Piece& piece : job.all) {
    const auto latest = waits_for(piece, job);
    if (!latest || latest->first.rank != last || latest->second != step) continue;
    const std::int64_t end = piece.to - latest->first.length();
    std::int64_t from = piece.from + not_its_own(piece, latest->first, step, job);
    if (4 * waited_after(piece, step, job) > end - piece.from) from = end;
    Waited& found = waiting[piece.rank];
    add_times(found.all, from, end);
    add_exposed(found.exposed, from, end, job.traces[piece.rank]);
    found.longer = longer(piece.rank, last, step, job);
  }
  return waiting;
}

}  // namespace

std::optional<Waits> find_waits(const std::vector<std::string>& traces) {
  Job job;
  for (const std::string& text : traces) {
    job.traces.push_back(read_trace(text, job.traces.size()));
    const Pieces& pieces = job.traces.back().pieces;
    job.all.insert(job.all.end(), pieces.begin(), pieces.end());
  }
  if (!tell_enough(job.all, traces.size())) return std::nullopt;
  job.waited.resize(traces.size());
  for (const Piece& piece : job.all)
    if (const auto last = waits_for(piece, job))
      add_exposed(job.waited[piece.rank], piece.from, piece.to - last->first.length(),
                  job.traces[piece.rank]);
  for (const Piece& piece : job.all)
    if (const auto last = waits_for(piece, job))
      add_exposed(job.delayed_by[{piece.rank, last->first.rank}],
                  piece.from + not_its_own(piece, last->first, last->second, job),
                  piece.to - last->first.length(), job.traces[piece.rank]);
  Waits waits;
  waits.wait_ns.resize(traces.size());
  waits.delay_ns.resize(traces.size());
  for (const auto& [step, times] : job.traces.front().steps)
    for (std::size_t rank = 0; rank < traces.size(); ++rank) {
      waits.wait_ns[rank].push_back(felt(waiting_of(rank, step, job)));
      std::int64_t least = -1;
      for (const auto& [waiting, waited] : waiting_for(rank, step, job))
        least = least < 0 ? felt(waited) : std::min(least, felt(waited));
      waits.delay_ns[rank].push_back(std::max<std::int64_t>(least, 0));
    }
  return waits;
}

}  // namespace traceloom::oracle
