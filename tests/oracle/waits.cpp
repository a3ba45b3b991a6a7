#include "oracle/waits.h"

#include "oracle/json_value.h"

#include <algorithm>
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
  std::map<int, std::pair<std::int64_t, std::int64_t>> steps;  // by number
  Pieces pieces;
  Times work;  // of the device, but for collectives
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

// Who spent least in it, of several the first rank.
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
};

// As far as `longer`: how much longer the exposed communication is.
std::int64_t felt(const Waited& waited, std::int64_t longer) {
  return std::clamp(longer, nanoseconds(waited.exposed), nanoseconds(waited.all));
}

// Of one rank in one step.
std::int64_t exposed_communication(std::size_t rank, int step, const std::vector<Trace>& traces,
                                   const Pieces& all) {
  const auto& [from, to] = traces[rank].steps.at(step);
  Times exposed;
  for (const Piece& piece : all)
    for (std::int64_t us = piece.from; us < piece.to && piece.rank == rank; ++us)
      if (from <= us && us < to && !traces[rank].work.contains(us)) exposed.insert(us);
  return nanoseconds(exposed);
}

// What ranks do while they wait for `last` in a step.
std::map<std::size_t, Waited> waiting_for(std::size_t last, int step,
                                          const std::vector<Trace>& traces, const Pieces& all) {
  std::map<std::size_t, Waited> waiting;
  for (const Piece& piece : all) {
    const Pieces parts = parts_of(piece, all);
    const Piece& latest = last_of(parts);
    if (piece.rank == last || latest.rank != last || !is_complete(piece, all)) continue;
    if (step_of(latest, traces[last]) != step) continue;
    Waited& found = waiting[piece.rank];
    for (std::int64_t us = piece.from; us < piece.to - latest.length(); ++us) {
      found.all.insert(us);
      if (!traces[piece.rank].work.contains(us)) found.exposed.insert(us);
    }
  }
  return waiting;
}

}  // namespace

std::optional<Waits> find_waits(const std::vector<std::string>& traces) {
  std::vector<Trace> read;
  Pieces all;
  for (const std::string& text : traces) {
    read.push_back(read_trace(text, read.size()));
    all.insert(all.end(), read.back().pieces.begin(), read.back().pieces.end());
  }
  if (!tell_enough(all, traces.size())) return std::nullopt;
  Waits waits;
  waits.wait_ns.resize(traces.size());
  waits.delay_ns.resize(traces.size());
  for (const auto& [step, times] : read.front().steps) {
    std::vector<Waited> waited(traces.size());
    std::vector<std::int64_t> communication;
    for (std::size_t rank = 0; rank < traces.size(); ++rank)
      communication.push_back(exposed_communication(rank, step, read, all));
    for (std::size_t last = 0; last < traces.size(); ++last) {
      std::int64_t least = -1;
      for (const auto& [rank, us] : waiting_for(last, step, read, all)) {
        waited[rank].all.insert(us.all.begin(), us.all.end());
        waited[rank].exposed.insert(us.exposed.begin(), us.exposed.end());
        const std::int64_t ns = felt(us, communication[rank] - communication[last]);
        least = least < 0 ? ns : std::min(least, ns);
      }
      waits.delay_ns[last].push_back(std::max<std::int64_t>(least, 0));
    }
    const std::int64_t shortest = *std::min_element(communication.begin(), communication.end());
    for (std::size_t rank = 0; rank < traces.size(); ++rank)
      waits.wait_ns[rank].push_back(felt(waited[rank], communication[rank] - shortest));
  }
  return waits;
}

}  // namespace traceloom::oracle
