#include "identity/evidence/event_marks.h"

#include "base/arithmetic.h"
#include "base/ascii.h"
#include "base/json_walk.h"
#include "event/event.h"
#include "json/json_document.h"

#include <algorithm>
#include <array>

namespace traceloom {
namespace {

void keep_last(std::string& text, const std::string& later) {
  if (!later.empty()) text = later;
}

// Removes the rank that a merge of ours puts before the process: "rank 3 · CANN 2".
std::string without_rank(const std::string& process) {
  constexpr std::string_view kRank = "rank ";
  constexpr std::string_view kSeparator = " · ";
  if (!process.starts_with(kRank)) return process;
  const std::size_t digits = process.find_first_not_of("0123456789", kRank.size());
  if (digits == kRank.size() || digits == std::string::npos) return process;
  return process.compare(digits, kSeparator.size(), kSeparator) == 0
             ? process.substr(digits + kSeparator.size())
             : process;
}

// Removes the process that a merge of ours puts before the thread: "CANN 2 · Thread 7".
std::string without_process(const std::string& thread, const std::string& process) {
  const std::string before = process + " · ";
  return thread.starts_with(before) ? thread.substr(before.size()) : thread;
}

}  // namespace

void RowNames::add(const Event& event) {
  const std::string_view kind = unquoted(event.text(Key::name));
  if (kind != "process_name" && kind != "process_labels" && kind != "thread_name") return;
  const JsonDocument args(event.text(Key::args));
  if (kind == "process_name") {
    keep_last(processes_[canonical_id(event.text(Key::pid))].name, args["name"].string());
  } else if (kind == "process_labels") {
    keep_last(processes_[canonical_id(event.text(Key::pid))].labels, args["labels"].string());
  } else {
    RowName& row =
        threads_[{canonical_id(event.text(Key::pid)), canonical_id(event.text(Key::tid))}];
    const std::string process = args["process"].string();
    keep_last(row.thread, without_process(args["name"].string(), process));
    keep_last(row.process, process);
  }
}

void RowNames::append(const RowNames& later) {
  for (const auto& [pid, process] : later.processes_) {
    keep_last(processes_[pid].name, process.name);
    keep_last(processes_[pid].labels, process.labels);
  }
  for (const auto& [place, row] : later.threads_) {
    keep_last(threads_[place].thread, row.thread);
    keep_last(threads_[place].process, row.process);
  }
}

void RowNames::clear() {
  processes_.clear();
  threads_.clear();
}

bool RowNames::is_device_row(const std::string& pid, const std::string& tid) const {
  const RowName name = row(pid, tid);
  return is_on_device(find_device_row(name.process, name.thread));
}

RowName RowNames::row(const std::string& pid, const std::string& tid) const {
  RowName row;
  if (const auto thread = threads_.find({pid, tid}); thread != threads_.end()) row = thread->second;
  if (row.thread.empty() && is_json_string(tid)) row.thread = decoded(tid);
  if (!row.process.empty()) return row;
  if (is_json_string(pid)) row.process = decoded(pid);
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return row;
  keep_last(row.process, without_rank(process->second.name));
  if (!is_named_device(row.process) && looks_like_device(process->second.labels))
    row.process = process->second.labels;
  return row;
}

void OperationRows::add(const Event& event) {
  static constexpr std::array<std::string_view, 5> kRows{"compute", "pp-comm", "tp-comm", "dp-comm",
                                                         "misc"};
  const auto tid = json_integer(event.text(Key::tid));
  if (!tid || *tid < 0 || rows_.size() >= DistinctMarks::kMaxMarks) return;
  std::string_view args = event.text(Key::args);
  if (args.find("PP rank ") == args.npos) return;
  const std::string name = JsonDocument(args)["name"].string();
  // A merge of ours puts the name of the process before that of the thread.
  std::string_view left(name);
  left.remove_prefix(std::min(left.find("PP rank "), left.size()));
  const std::string end = ", " + std::string(kRows[static_cast<std::size_t>(*tid % 5)]);
  const std::size_t middle = left.find(", TP rank ");
  if (middle == left.npos || !left.ends_with(end)) return;
  const auto stage = whole_number<std::int64_t>(left.substr(8, middle - 8));
  if (!stage || *stage < 0) return;
  rows_.try_emplace({canonical_id(event.text(Key::pid)), canonical_id(event.text(Key::tid))},
                    OperationRow{*tid / 5, *stage});
}

namespace {

constexpr std::string_view kLegacyName = "ClockSyncEvent.";

// Returns the middle of two moments and their distance, or nullopt if the second one is earlier.
std::optional<SyncEvent> between(std::int64_t asked_ns, std::int64_t answered_ns) {
  SyncEvent event;
  if (__builtin_sub_overflow(answered_ns, asked_ns, &event.error_ns) || event.error_ns < 0)
    return std::nullopt;
  event.moment_ns = asked_ns + event.error_ns / 2;
  return event;
}

std::optional<std::int64_t> nanoseconds(std::string_view json_value) {
  const std::optional<ParsedTime> time = parse_time(json_value);
  return time ? std::optional(time->rounded_ns()) : std::nullopt;
}

void keep_shorter(std::optional<SyncEvent>& best, const std::optional<SyncEvent>& other) {
  if (other && (!best || other->error_ns < best->error_ns)) best = other;
}

}  // namespace

bool SyncMarks::is_mark(const Event& event) {
  return event.phase == 'c' || ((event.phase == 'S' || event.phase == 'F') &&
                                unquoted(event.text(Key::name)).starts_with(kLegacyName));
}

SyncMarks::Mark* SyncMarks::find(const std::string& id) {
  const auto known = marks_.find(id);
  if (known != marks_.end()) return &known->second;
  return marks_.size() < kMaxIds ? &marks_[id] : nullptr;
}

void SyncMarks::add(const Event& event) {
  const std::optional<std::int64_t> ts_ns = nanoseconds(event.text(Key::ts));
  if (!ts_ns) return;
  if (event.phase != 'c') {
    const std::string name = decoded(event.text(Key::name));
    Mark* const mark = find(canonical_id('"' + name.substr(kLegacyName.size()) + '"'));
    if (mark != nullptr) keep_first(event.phase == 'S' ? mark->asked_ns : mark->answered_ns, ts_ns);
    return;
  }
  const JsonDocument args(event.text(Key::args));
  const std::string id = canonical_id(args["sync_id"].text());
  if (id.empty()) return;
  const std::optional<std::int64_t> asked_ns = nanoseconds(args["issue_ts"].text());
  if (Mark* const mark = find(id))
    keep_shorter(mark->event, between(asked_ns.value_or(*ts_ns), *ts_ns));
}

void SyncMarks::add(const SyncMarks& later) {
  for (const auto& [id, mark] : later.marks_) {
    Mark* const known = find(id);
    if (known == nullptr) continue;
    keep_shorter(known->event, mark.event);
    keep_first(known->asked_ns, mark.asked_ns);
    keep_first(known->answered_ns, mark.answered_ns);
  }
}

std::vector<SyncEvent> SyncMarks::events() const {
  std::vector<SyncEvent> events;
  for (const auto& [id, mark] : marks_) {
    std::optional<SyncEvent> best = mark.event;
    if (mark.asked_ns && mark.answered_ns)
      keep_shorter(best, between(*mark.asked_ns, *mark.answered_ns));
    if (best) events.push_back({id, best->moment_ns, best->error_ns});
  }
  return events;
}

namespace {

using Side = CollectiveMarks::Side;

// Beyond that what is left has one number: that of a collective that a merge has of many ranks, or
// a Seq that does not count.
constexpr std::int64_t kMostApart = std::int64_t{1} << 40;

// Recognises torch's names ("_allgather_base", "allreduce_coalesced"), gloo's ("gloo:all_reduce")
// and those of kernels ("ncclDevKernel_ReduceScatter_...").
std::optional<Side> side_of(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kAll{
      "allreduce",      "all_reduce", "allgather",  "all_gather", "reducescatter",
      "reduce_scatter", "alltoall",   "all_to_all", "barrier"};
  const std::string lower = to_lower(name);
  const auto has = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  if (std::ranges::any_of(kAll, has)) return Side::all;
  const bool sends = has("send");
  const bool receives = has("recv");
  if (sends == receives) return std::nullopt;
  return sends ? Side::send : Side::receive;
}

// The description of a collective in an event, as it is written.
struct Said {
  std::string_view name;
  std::string_view group_name;
  std::string_view description;
  std::string_view ranks;
  std::string_view elements;
  std::string_view type;
  std::string_view dims;
  std::string_view seq;
  std::string_view source;
  std::string_view target;
  std::string_view in_split;
  std::string_view out_split;
};

Said read_said(std::string_view args) {
  static constexpr std::array<std::pair<std::string_view, std::string_view Said::*>, 14> kKeys{
      {{"Collective name", &Said::name},
       {"Process Group Name", &Said::group_name},
       {"Process Group Description", &Said::description},
       {"Process Group Ranks", &Said::ranks},
       {"In msg nelems", &Said::elements},
       {"dtype", &Said::type},
       {"Input type", &Said::type},
       {"Input Dims", &Said::dims},
       {"Input dims", &Said::dims},
       {"Seq", &Said::seq},
       {"Src Rank", &Said::source},
       {"Dst Rank", &Said::target},
       {"In split size", &Said::in_split},
       {"Out split size", &Said::out_split}}};
  Said said;
  for (JsonWalk walk(args); walk.next();)
    for (const auto& [key, member] : kKeys)
      if (walk.key() == key) said.*member = unquoted(walk.value());
  return said;
}

// True if a part is empty: a rank that receives nothing from another rank does not wait for it.
bool has_empty_part(std::string_view split) {
  bool is_number = false;
  for (std::size_t i = 0; i < split.size(); ++i) {
    const bool is_digit = split[i] >= '0' && split[i] <= '9';
    const bool ends = i + 1 == split.size() || split[i + 1] < '0' || split[i + 1] > '9';
    if (is_digit && !is_number && split[i] == '0' && ends) return true;
    is_number = is_digit;
  }
  return false;
}

bool is_device(const Event& event) {
  const std::string_view category = unquoted(event.text(Key::cat));
  return is_device_category(category) || event_side(category) == EventSide::device;
}

}  // namespace

void CollectiveMarks::Kind::keep(const Round& round) {
  if (round.number % every != 0) return;
  rounds.push_back(round);
  while (rounds.size() > kMostOfKind) {
    if ((!has_seq && !is_by_time) || every >= kMostApart) {
      is_whole = false;
      return rounds.clear();
    }
    every *= 2;
    std::erase_if(rounds, [this](const Round& one) { return one.number % every != 0; });
  }
}

void CollectiveMarks::Kind::add(const Round& round) {
  is_by_time = is_by_time && (rounds.empty() || rounds.back().begin_ns <= round.begin_ns);
  ++count;
  rounds.push_back(round);
}

// Appends all rounds of `later`, which must be whole.
void CollectiveMarks::Kind::append(const Kind& later) {
  for (Round round : later.rounds) {
    is_by_time = is_by_time && (rounds.empty() || rounds.back().begin_ns <= round.begin_ns);
    if (!has_seq) round.number = static_cast<std::int64_t>(count);
    ++count;
    if (is_whole) keep(round);
  }
}

void CollectiveMarks::add_round(const Event& event, const EventTiming& timing) {
  if (!timing.usable || timing.slice_end != SliceEnd::known || event.has(Key::unclosed)) return;
  const std::string_view name = unquoted(event.text(Key::name));
  const bool on_device = !name.starts_with("gloo:");
  if (on_device && !is_device(event)) return;
  const Said said = read_said(event.text(Key::args));
  const std::optional<Side> side = side_of(said.name.empty() ? name : said.name);
  if (!side || has_empty_part(said.in_split) || has_empty_part(said.out_split)) return;
  const std::string_view peer = *side == Side::send ? said.target : said.source;
  if (*side != Side::all && (peer.empty() || said.ranks.empty())) return;
  std::int64_t seq = -1;
  if (*side == Side::all && !said.group_name.empty()) seq = json_integer(said.seq).value_or(-1);
  const bool has_seq = seq >= 0;
  scratch_.clear();
  for (const std::string_view part :
       {said.name.empty() ? name : said.name, said.group_name, said.description, said.ranks})
    scratch_.append(part).push_back('\n');
  const std::size_t tells_group = scratch_.size();
  if (*side != Side::all)
    scratch_.append(peer);
  else if (!has_seq)
    scratch_.append(said.elements).append(said.type).append(said.dims);
  const auto [found, is_new] = kinds_.try_emplace(scratch_);
  Kind& kind = found->second;
  if (is_new) {
    kind.side = *side;
    kind.is_device = on_device;
    kind.has_seq = has_seq;
    kind.what = said.name.empty() ? name : said.name;
    if (*side == Side::all && !has_seq) kind.what.append(scratch_, tells_group);
    if (!said.group_name.empty())
      kind.group = std::string(said.group_name).append("\n").append(said.description);
    kind.ranks = said.ranks;
    if (*side != Side::all) kind.peer = json_integer(peer).value_or(kNoPeer);
  }
  kind.add({has_seq ? seq : static_cast<std::int64_t>(kind.count), timing.start_ns,
            saturating_add(timing.start_ns, timing.duration_ns)});
}

void CollectiveMarks::append(const CollectiveMarks& later) {
  for (const auto& [key, kind] : later.kinds_) {
    auto known = kinds_.find(key);
    if (known == kinds_.end()) {
      if (kinds_.size() >= kMostKinds) continue;
      Kind empty = kind;
      empty.rounds.clear();
      empty.count = 0;
      empty.is_by_time = true;
      known = kinds_.emplace(key, std::move(empty)).first;
    }
    known->second.append(kind);
  }
}

void StreamOrder::Row::judge(const StreamWork& next, ProblemCounts& problems) {
  if (!open || !open->is_overlong_before(next)) return;
  problems.add(Problem::overlong_work, open->offset);
  open.reset();
}

StreamOrder::Row* StreamOrder::row_of(std::string_view pid, std::string_view tid) {
  if (last_ < rows_.size() && same_text(rows_[last_].tid, tid) && same_text(rows_[last_].pid, pid))
    return &rows_[last_];
  std::pair row{std::string(pid), std::string(tid)};
  auto number = numbers_.find(row);
  if (number == numbers_.end()) {
    if (rows_.size() == kMostRows) return nullptr;
    rows_.push_back({row.first, row.second});
    number = numbers_.emplace(std::move(row), rows_.size() - 1).first;
  }
  last_ = number->second;
  return &rows_[last_];
}

void StreamOrder::add_work(const Event& event, const EventTiming& timing, ProblemCounts& problems) {
  const std::string_view category = unquoted(event.text(Key::cat));
  if (!same_text(category, "kernel") && !std::ranges::count(kStreamCategories, to_lower(category)))
    return;
  Row* const row = row_of(event.text(Key::pid), event.text(Key::tid));
  if (row == nullptr) return;
  StreamWork work{timing.start_ns, saturating_add(timing.start_ns, timing.duration_ns)};
  const bool is_long = work.may_be_overlong() && !event.has(Key::unclosed);
  const bool is_in_doubt = row->open && work.start_ns < row->open->end_ns - kMostOverlapNs;
  if (row->knows_first && !is_long && !is_in_doubt) return;
  for (JsonWalk walk(event.text(Key::args)); walk.next();) {
    if (walk.key() == "stream") work.stream = json_integer(walk.value()).value_or(-1);
    if (walk.key() == "correlation") work.correlation = json_integer(walk.value()).value_or(-1);
  }
  if (!row->knows_first) {
    const bool is_other = row->first.empty() || work.correlation < 0 ||
                          row->first.front().correlation != work.correlation;
    if (is_other) row->first.push_back(work);
    row->knows_first = is_long || row->first.size() == 2;
  }
  row->judge(work, problems);
  if (!is_long) return;
  row->has_long = true;
  row->open = {{work}, event.offset};
}

void StreamOrder::append(const StreamOrder& later, ProblemCounts& problems) {
  for (const Row& next : later.rows_) {
    Row* const row = row_of(next.pid, next.tid);
    if (row == nullptr) continue;
    for (const StreamWork& work : next.first) row->judge(work, problems);
    if (next.has_long) row->open = next.open;
  }
}

}  // namespace traceloom
