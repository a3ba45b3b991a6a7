#include "oracle/devices.h"

#include "oracle/json_value.h"

#include <algorithm>
#include <set>

namespace traceloom::oracle {
namespace {

struct Piece {
  std::string name;
  std::string category;
  std::int64_t from;  // microseconds
  std::int64_t to;
  int thread;
  int device = 0;
  int stream = -1;
  std::int64_t correlation = -1;
  std::int64_t bytes = -1;
  double gbps = -1;
  const Piece* call = nullptr;

  bool holds(std::int64_t us) const { return from <= us && us < to; }
};
using Pieces = std::vector<Piece>;
using Work = std::vector<const Piece*>;

struct Trace {
  Pieces ops;
  Pieces calls;
  Pieces work;
};

std::int64_t number_at(const Json& args, const char* key) {
  const Json* const value = args.find(key);
  return value == nullptr ? -1 : std::stoll(value->text);
}

Piece read_piece(const Json& event) {
  const Json& args = *event.find("args");
  Piece piece{event.find("name")->text, event.find("cat")->text, std::stoll(event.find("ts")->text),
              0, std::stoi(event.find("tid")->text)};
  piece.to = piece.from + std::stoll(event.find("dur")->text);
  piece.device = static_cast<int>(number_at(args, "device"));
  piece.stream = static_cast<int>(number_at(args, "stream"));
  piece.correlation = number_at(args, "correlation");
  piece.bytes = number_at(args, "bytes");
  const Json* const gbps = args.find("memory bandwidth (GB/s)");
  if (gbps != nullptr)
    piece.gbps = std::stod(gbps->text);
  else if (piece.bytes >= 0 && piece.to > piece.from)
    piece.gbps =
        static_cast<double>(piece.bytes) / static_cast<double>((piece.to - piece.from) * 1000);
  return piece;
}

// The last call with its correlation that had begun, else the first one.
const Piece* find_call(const Pieces& calls, const Piece& work) {
  const Piece* best = nullptr;
  for (const Piece& call : calls) {
    if (work.correlation < 0 || call.correlation != work.correlation) continue;
    const auto is_better = [&](const Piece& than) {
      const bool begun = call.from <= work.from;
      const bool than_begun = than.from <= work.from;
      if (begun != than_begun) return begun;
      return begun ? call.from > than.from : call.from < than.from;
    };
    if (best == nullptr || is_better(*best)) best = &call;
  }
  return best;
}

Trace read_trace(const std::string& text) {
  Trace trace;
  const Json document = parse_json(text);
  for (const Json& event : document.find("traceEvents")->items) {
    const Piece piece = read_piece(event);
    // A name that is given to a time covers nothing.
    if (piece.category == "user_annotation" || piece.name.rfind("Optimizer.", 0) == 0) continue;
    if (piece.category == "cuda_runtime")
      trace.calls.push_back(piece);
    else if (piece.category == "cpu_op")
      trace.ops.push_back(piece);
    else
      trace.work.push_back(piece);
  }
  for (Piece& work : trace.work) work.call = find_call(trace.calls, work);
  return trace;
}

// "computation", "communication" or "memory".
std::string type_of(const Piece& work) {
  if (work.category != "kernel") return "memory";
  return work.name.rfind("nccl", 0) == 0 ? "communication" : "computation";
}

bool any_at(const Work& work, std::int64_t us, bool (*is)(const Piece&)) {
  return std::any_of(work.begin(), work.end(),
                     [&](const Piece* piece) { return piece->holds(us) && is(*piece); });
}

std::int64_t first_start(const Work& work) {
  std::int64_t first = work.front()->from;
  for (const Piece* piece : work) first = std::min(first, piece->from);
  return first;
}
std::int64_t last_end(const Work& work) {
  std::int64_t last = work.front()->to;
  for (const Piece* piece : work) last = std::max(last, piece->to);
  return last;
}

void add_busy(DeviceFacts& facts, int device, const Work& work) {
  BusyTimes& times = facts.busy[device];
  for (std::int64_t us = first_start(work); us < last_end(work); ++us) {
    const bool kernel =
        any_at(work, us, [](const Piece& piece) { return type_of(piece) == "computation"; });
    const bool comm =
        any_at(work, us, [](const Piece& piece) { return type_of(piece) == "communication"; });
    const bool memcpy =
        any_at(work, us, [](const Piece& piece) { return piece.category == "gpu_memcpy"; });
    const bool memset =
        any_at(work, us, [](const Piece& piece) { return piece.category == "gpu_memset"; });
    const bool compute = kernel || memset;
    times.total += 1000;
    times.compute += compute ? 1000 : 0;
    times.exposed_comm += comm && !compute ? 1000 : 0;
    times.exposed_memcpy += memcpy && !compute && !comm ? 1000 : 0;
    times.idle += !compute && !comm && !memcpy ? 1000 : 0;
    times.kernel += kernel ? 1000 : 0;
    times.comm += comm ? 1000 : 0;
    times.memcpy += memcpy ? 1000 : 0;
    times.overlap += comm && kernel ? 1000 : 0;
    std::string type;
    for (const auto& [is, name] :
         {std::pair{kernel, "computation"}, std::pair{comm, "communication"},
          std::pair{memcpy || memset, "memory"}})
      if (is) type += (type.empty() ? "" : " overlapping ") + std::string(name);
    if (!type.empty()) facts.types[type] += 1000;
  }
}

// The one that is around the microsecond and began last; of several the one that ends first.
std::string innermost(const Pieces& pieces, int thread, std::int64_t us) {
  const Piece* inner = nullptr;
  for (const Piece& piece : pieces) {
    if (piece.thread != thread || !piece.holds(us)) continue;
    if (inner == nullptr || std::tuple(piece.from, -piece.to, piece.name) >
                                std::tuple(inner->from, -inner->to, inner->name))
      inner = &piece;
  }
  return inner == nullptr ? "" : inner->name;
}

// A gap around one microsecond without work: the time in which nothing runs, the call that launched
// the work after it, and the thread whose events describe the host.
struct Gap {
  std::int64_t from;
  std::int64_t to;
  const Piece* call = nullptr;
  bool is_in_stream = false;
  bool is_of_launch = false;
  std::string hta = {};
  std::string kind = "not recorded";
  bool kernel_wait = false;
  int thread = -1;
};

bool is_blocked(const Trace& trace, int thread, std::int64_t us) {
  return std::any_of(trace.calls.begin(), trace.calls.end(), [&](const Piece& call) {
    return call.thread == thread && call.name == "cudaStreamSynchronize" && call.holds(us);
  });
}

// Decides what one microsecond of a gap was, in addition to HTA's kind of the gap.
void tell_kind(const Trace& trace, std::int64_t us, std::int64_t kernel_gap_us, Gap& gap) {
  if (gap.call != nullptr) {
    gap.thread = gap.call->thread;
    std::int64_t launched =
        std::clamp(gap.is_of_launch ? gap.call->from : gap.call->to, gap.from, gap.to);
    const bool is_turn_around = gap.is_in_stream && launched == gap.from;
    if (launched > gap.from && gap.to - gap.call->to < kernel_gap_us) launched = gap.to;
    gap.kind = us < launched ? "host wait" : "queued";
    gap.kernel_wait = us >= launched && gap.to - launched < kernel_gap_us;
    if (us < launched && is_blocked(trace, gap.thread, us)) gap.kind = "blocked";
    if (is_turn_around) gap.kind = "turn-around";
  }
  if (std::all_of(trace.work.begin(), trace.work.end(),
                  [](const Piece& piece) { return piece.correlation < 0; })) {
    gap.kind = "host wait";
    for (const int thread : {2, 1})
      if (is_blocked(trace, thread, us)) {
        gap.kind = "blocked";
        gap.thread = thread;
      }
  }
}

Gap gap_at(const Trace& trace, const Work& work, std::int64_t us, std::int64_t kernel_gap_us) {
  Gap gap{first_start(work), last_end(work)};
  for (const Piece* piece : work)
    if (piece->to <= us) gap.from = std::max(gap.from, piece->to);
  for (const Piece* piece : work)
    if (piece->from > us) gap.to = std::min(gap.to, piece->from);
  const Piece* next = nullptr;
  for (const Piece* piece : work)
    if (piece->from == gap.to && piece->call != nullptr &&
        (next == nullptr ||
         std::pair(piece->call->from, piece->to) < std::pair(next->call->from, next->to)))
      next = piece;
  if (next != nullptr) {
    gap.call = next->call;
    for (const Piece* piece : work) {
      if (piece->to != gap.from) continue;
      gap.is_in_stream |= piece->stream == next->stream;
      gap.is_of_launch |= piece->call == next->call;
    }
  }
  if (gap.call != nullptr && gap.call->from > gap.from)
    gap.hta = "host wait";
  else
    gap.hta = gap.to - gap.from < kernel_gap_us ? "kernel wait" : "other";
  tell_kind(trace, us, kernel_gap_us, gap);
  return gap;
}

template <typename Use>
IdleTimes find_idle(const Trace& trace, const Work& work, std::int64_t kernel_gap_us, Use use) {
  IdleTimes times;
  times.total = (last_end(work) - first_start(work)) * 1000;
  std::set<std::pair<std::int64_t, std::int64_t>> gaps;
  for (std::int64_t us = first_start(work); us < last_end(work); ++us) {
    if (any_at(work, us, [](const Piece&) { return true; })) continue;
    const Gap gap = gap_at(trace, work, us, kernel_gap_us);
    times.kinds[gap.kind] += 1000;
    times.hta[gap.hta] += 1000;
    if (gap.kernel_wait) times.kernel_wait += 1000;
    gaps.emplace(gap.from, gap.to);
    use(us, gap);
  }
  for (const auto& [from, to] : gaps) times.gaps.push_back((to - from) * 1000);
  std::sort(times.gaps.begin(), times.gaps.end());
  return times;
}

void add_host(DeviceFacts& facts, const Trace& trace, std::int64_t us, const Gap& gap) {
  std::string op = "(launch not recorded)";
  std::string call;
  if (gap.thread >= 0) {
    op = innermost(trace.ops, gap.thread, us);
    call = innermost(trace.calls, gap.thread, us);
    if (op.empty() && call.empty()) op = "(nothing recorded)";
  }
  facts.hosts[{gap.kind, op, call}] += 1000;
}

struct Launch {
  const Piece* call;
  std::int64_t start;
  std::int64_t device = 0;
};

// Counts the launches that had not begun, by examining all of them.
void add_queue(LaunchTimes& times, const std::vector<Launch>& launches) {
  std::vector<std::pair<std::int64_t, int>> changes;  // 0: launched, 1: begins
  for (const Launch& launch : launches) {
    changes.emplace_back(std::min(launch.call->from, launch.start), 0);
    changes.emplace_back(launch.start, 1);
  }
  std::sort(changes.begin(), changes.end());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    std::int64_t length = 0;
    for (std::size_t j = 0; j <= i; ++j) length += changes[j].second == 0 ? 1 : -1;
    times.queue.push_back(length);
    if (i + 1 < changes.size() && length == 0)
      times.empty += (changes[i + 1].first - changes[i].first) * 1000;
  }
  if (!changes.empty()) times.queue_time = (changes.back().first - changes.front().first) * 1000;
  std::sort(times.queue.begin(), times.queue.end());
}

void add_launches(DeviceFacts& facts, const Trace& trace, const std::pair<int, int>& stream,
                  const Work& work) {
  LaunchTimes& times = facts.launches[stream];
  times.work = static_cast<std::int64_t>(work.size());
  std::vector<Launch> launches;
  for (const Piece& call : trace.calls) {
    Launch launch{&call, -1};
    for (const Piece* piece : work) {
      if (piece->call != &call) continue;
      launch.start = launch.start < 0 ? piece->from : std::min(launch.start, piece->from);
      launch.device += piece->to - piece->from;
    }
    if (launch.start < 0) continue;
    launches.push_back(launch);
    const bool is_short = launch.device < call.to - call.from;
    const std::string op = innermost(trace.ops, call.thread, call.from);
    ++times.launches;
    times.short_ones += is_short ? 1 : 0;
    times.in_calls += call.to - call.from;
    facts.short_of_ops[op.empty() ? "(nothing recorded)" : op] += is_short ? 1 : 0;
    facts.in_calls_of_ops[op.empty() ? "(nothing recorded)" : op] += call.to - call.from;
    ++facts.launches_of_calls[call.name];
    times.delays.push_back(std::max<std::int64_t>(0, launch.start - call.to) * 1000);
  }
  std::sort(times.delays.begin(), times.delays.end());
  add_queue(times, launches);
}

void add_transfers(DeviceFacts& facts, const Work& work) {
  const auto is_transfer = [](const Piece& piece) { return piece.category != "kernel"; };
  std::set<std::string> names;
  for (const Piece* piece : work) {
    if (!is_transfer(*piece)) continue;
    TransferTimes& times = facts.transfers[piece->name];
    names.insert(piece->name);
    ++times.count;
    times.total += (piece->to - piece->from) * 1000;
    times.bytes += std::max<std::int64_t>(0, piece->bytes);
    if (piece->gbps >= 0) times.gbps.push_back(piece->gbps);
    std::sort(times.gbps.begin(), times.gbps.end());
  }
  for (const std::string& name : names)
    for (std::int64_t us = first_start(work); us < last_end(work); ++us) {
      const bool runs = std::any_of(work.begin(), work.end(), [&](const Piece* piece) {
        return piece->holds(us) && piece->name == name;
      });
      const bool hidden =
          any_at(work, us, [](const Piece& piece) { return piece.category == "kernel"; });
      if (runs && !hidden) facts.transfers[name].exposed += 1000;
    }
}

}  // namespace

DeviceFacts find_device_facts(const std::string& text, std::int64_t kernel_gap_us) {
  const Trace trace = read_trace(text);
  std::map<int, Work> devices;
  std::map<std::pair<int, int>, Work> streams;
  for (const Piece& piece : trace.work) {
    devices[piece.device].push_back(&piece);
    streams[{piece.device, piece.stream}].push_back(&piece);
  }
  DeviceFacts facts;
  for (const auto& [device, work] : devices) {
    add_busy(facts, device, work);
    facts.idle[device] =
        find_idle(trace, work, kernel_gap_us,
                  [&](std::int64_t us, const Gap& gap) { add_host(facts, trace, us, gap); });
    add_transfers(facts, work);
  }
  for (const auto& [stream, work] : streams) {
    facts.stream_idle[stream] =
        find_idle(trace, work, kernel_gap_us, [](std::int64_t, const Gap&) {});
    add_launches(facts, trace, stream, work);
  }
  return facts;
}

}  // namespace traceloom::oracle
