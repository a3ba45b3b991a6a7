#include "analysis/account/account.h"

#include "analysis/account/gap_reasons.h"
#include "analysis/devices/device_work.h"
#include "base/arithmetic.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace traceloom {
namespace {

constexpr double kWorthFrames = 0.005;  // share of steps from which frames are examined
constexpr std::size_t kLeastCalls = 3;  // of an operator that recurs in a lone step
constexpr std::size_t kMostCallers = 4;
constexpr std::size_t kMostNames = 8;
constexpr std::size_t kMostFrames = 3;

// The time of a rank's steps without the work of devices.
struct RestOfSteps {
  Intervals steps;   // steps that count
  Intervals all;     // time of the steps without work of devices, collectives, and waits for data
  Intervals loader;  // these waits
};

RestOfSteps find_rest(const RankRoles& roles) {
  RestOfSteps found;
  found.steps = roles.counted();
  Intervals left = found.steps;
  for (const Role role : {Role::kernel, Role::memcpy, Role::memset, Role::communication})
    left = subtract(left, unpacked(roles.sets[role]));
  const Intervals calls = intersect(left, unpacked(roles.sets[Role::runtime]));
  found.loader = intersect(left, subtract(unpacked(roles.sets[Role::dataloader]), calls));
  found.all = subtract(left, found.loader);
  return found;
}

// A part of a row whose event is known by name.
struct Piece {
  AccountRow row;
  HostSpan span;
  std::string_view name;
  std::int64_t ns;
};

// The callers of a piece as the traces name them, which is enough for a million pieces: operators,
// the innermost first, then a function of Python.
struct Callers {
  std::vector<std::string_view> names;
  std::string_view frame = {};

  std::string frame_text() const { return frame.empty() ? "" : read_frame(frame).text(); }
  std::string_view innermost() const { return names.empty() ? frame : names.front(); }
  std::string innermost_text() const {
    return names.empty() ? frame_text() : std::string(names.front());
  }
  std::string text() const {
    std::string text(fmt::format("{}", fmt::join(names, ", ")));
    if (!frame.empty()) text += (text.empty() ? "" : ", ") + frame_text();
    return text;
  }
};

// Sorts the pieces, and returns the callers of each.
std::vector<Callers> find_callers(const Run& run, const RankEvents& rank,
                                  std::vector<Piece>& pieces) {
  // They are sorted by begin, and of two that begin together the longer one is outer.
  using Around = std::vector<std::tuple<std::int64_t, std::int64_t, std::string_view>>;
  std::vector<Around> around(pieces.size());
  std::vector<const HostSpan*> frames(pieces.size(), nullptr);
  const auto place = [](const HostSpan& span) { return std::pair(span.track, span.start_ns); };
  const auto place_of = [&](const Piece& piece) { return place(piece.span); };
  std::ranges::stable_sort(pieces, {}, place_of);
  const auto for_each_in = [&](const HostSpan& outer, auto use) {
    auto piece = std::ranges::lower_bound(pieces, place(outer), {}, place_of);
    for (; piece != pieces.end() && piece->span.track == outer.track &&
           piece->span.start_ns <= outer.end_ns;
         ++piece)
      if (piece->span.end_ns <= outer.end_ns)
        use(static_cast<std::size_t>(piece - pieces.begin()), run.labels.name(outer.label));
  };
  rank.for_each_host([&](const HostSpan& span) {
    for_each_in(span, [&](std::size_t i, std::string_view name) {
      if (name != pieces[i].name) around[i].emplace_back(span.start_ns, -span.end_ns, name);
    });
  });
  rank.for_each_frame([&](const HostSpan& span) {
    for_each_in(span, [&](std::size_t i, std::string_view name) {
      if (name.find(": ") != name.npos &&
          (frames[i] == nullptr || span.start_ns > frames[i]->start_ns))
        frames[i] = &span;
    });
  });
  std::vector<Callers> found(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::sort(around[i].rbegin(), around[i].rend());
    std::vector<std::string_view>& names = found[i].names;
    for (const auto& [start_ns, end_ns, name] : around[i])
      if (names.size() < kMostCallers && (names.empty() || names.back() != name))
        names.push_back(name);
    if (frames[i] != nullptr) found[i].frame = run.labels.name(frames[i]->label);
  }
  return found;
}

// Returns the number of steps that have begun at a time.
std::size_t steps_until(const std::vector<std::int64_t>& starts_ns, std::int64_t ns) {
  return static_cast<std::size_t>(std::ranges::upper_bound(starts_ns, ns) - starts_ns.begin());
}

void join(FrameSum& sum, const FrameSum& more) {
  add_to(sum.ns, more.ns);
}

void join(NamedTime& sum, const NamedTime& more) {
  add_to(sum.ns, more.ns);
  sum.n += more.n;
  sum.steps += more.steps;
  sum.recurs = sum.recurs && more.recurs;
  if (more.longest_ns > sum.longest_ns) sum.callers = more.callers;
  sum.longest_ns = std::max(sum.longest_ns, more.longest_ns);
}

// Adds pieces to the names of their rows; those of one name and other innermost callers stand
// apart.
void add_names(const Run& run, const RankEvents& rank, std::vector<Piece> pieces,
               const std::vector<std::int64_t>& step_starts, Account& account) {
  const std::vector<Callers> callers = find_callers(run, rank, pieces);
  std::map<std::tuple<AccountRow, std::string_view, std::string_view>, NamedTime> sums;
  std::map<std::pair<AccountRow, std::string_view>, std::set<std::size_t>> steps;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    NamedTime& sum = sums[{piece.row, piece.name, callers[i].innermost()}];
    if (sum.n == 0) sum.caller = callers[i].innermost_text();
    const bool is_longest = piece.ns > sum.longest_ns;
    join(sum,
         {std::string(piece.name), is_longest ? callers[i].text() : "", piece.ns, 1, 0, piece.ns});
    steps[{piece.row, piece.name}].insert(steps_until(step_starts, piece.span.start_ns));
  }
  for (auto& [key, sum] : sums) {
    const auto& [row, name, around] = key;
    sum.name = name;
    sum.steps = steps[{row, name}].size();
    account[row].names.push_back(std::move(sum));
  }
}

// Joins entries with equal keys, and sorts all by time.
template <typename Entry, typename KeyOf>
void join_alike(std::vector<Entry>& entries, KeyOf key_of) {
  std::ranges::stable_sort(entries, {}, key_of);
  std::vector<Entry> joined;
  for (Entry& entry : entries) {
    if (joined.empty() || key_of(joined.back()) != key_of(entry))
      joined.push_back(std::move(entry));
    else
      join(joined.back(), entry);
  }
  std::ranges::stable_sort(joined, std::greater(), &Entry::ns);
  entries = std::move(joined);
}

void add(Account& account, const Account& more) {
  for (const AccountRow row : kAllOf<AccountRow>) {
    AccountSum& sum = account[row];
    add_to(sum.ns, more[row].ns);
    add_to(sum.inferred_ns, more[row].inferred_ns);
    sum.n += more[row].n;
    sum.lengthen(more[row].longest_ns, more[row].before);
    add_to(sum.long_ns, more[row].long_ns);
    sum.names.insert(sum.names.end(), more[row].names.begin(), more[row].names.end());
  }
  account.work += more.work;
  account.linked += more.linked;
  account.unlinked += more.unlinked;
  account.shorter += more.shorter;
  account.launches += more.launches;
  add_to(account.beside_ns, more.beside_ns);
  account.frames.insert(account.frames.end(), more.frames.begin(), more.frames.end());
}

// Names were added as the ranks have them: thousands of ranks may have other names each.
void join_names(Account& account) {
  for (const AccountRow row : kAllOf<AccountRow>)
    join_alike(account[row].names, [](const NamedTime& one) {
      return std::pair(std::string_view(one.name), std::string_view(one.caller));
    });
  join_alike(account.frames,
             [](const FrameSum& frame) { return std::tie(frame.name, frame.file); });
}

void keep_longest(Account& account) {
  for (const AccountRow row : kAllOf<AccountRow>) {
    std::vector<NamedTime>& names = account[row].names;
    std::ranges::stable_sort(names, std::greater(), &NamedTime::ns);
    if (names.size() > kMostNames) names.resize(kMostNames);
  }
  if (account.frames.size() > kMostFrames) account.frames.resize(kMostFrames);
}

bool shows_recurrence(const RankEvents& rank, std::size_t steps) {
  return steps > 1 && rank.steps.kind != StepKind::none;
}

// Makes the account of one rank.
class AccountFinder {
 public:
  AccountFinder(const Run& run, const RankEvents& rank, const RankRoles& roles, IdleGaps* gaps)
      : run_(run),
        rank_(rank),
        roles_(roles),
        rest_(find_rest(roles)),
        all_(rest_.all),
        loader_(rest_.loader),
        gaps_(gaps) {
    for (const StepRoles& step : roles.steps)
      if (step.step.counted) step_starts_.push_back(step.step.time.from_ns);
  }

  Account find() {
    add_roles();
    if (rank_.has_devices())
      find_gaps_of_devices();
    else
      find_host();
    return std::move(account_);
  }

 private:
  // The roles that take an instant before all others, in their order.
  void add_roles() {
    StepSum steps;
    steps.add_counted(roles_.steps);
    total_ns_ = steps.sum().total_ns;
    for (const auto& [role, row] :
         {std::pair{Role::kernel, AccountRow::kernel}, std::pair{Role::memcpy, AccountRow::memcpy},
          std::pair{Role::memset, AccountRow::memset},
          std::pair{Role::communication, AccountRow::communication},
          std::pair{Role::dataloader, AccountRow::dataloader}})
      account_[row].ns = steps.sum().exclusive[role];
    count_roles();
  }

  // Counts events that have an instant in the steps. Where there is no device, the host
  // communicates.
  void count_roles() {
    const auto count = [&](AccountRow row, const HostSpan& span) {
      account_[row].n += holds_any(rest_.steps, span.interval()) ? 1 : 0;
    };
    rank_.for_each_mark([&](const MarkedSpan& span) {
      if (span.mark == SpanMark::loader) count(AccountRow::dataloader, span);
    });
    std::size_t parts = 0;  // counts where no span of the host is known to be a whole collective
    std::size_t& collectives = account_[AccountRow::communication].n;
    if (!rank_.has_devices())
      rank_.for_each_host([&](const HostSpan& span) {
        const EventClass& kind = run_.labels.kind(span.label);
        if (kind.role == Role::communication && holds_any(rest_.steps, span.interval()))
          ++(kind.mark == SpanMark::collective ? collectives : parts);
      });
    if (collectives == 0) collectives = parts;
    rank_.for_each_device([&](const DeviceSpan& span) {
      const Role role = run_.labels.kind(span.label).role;
      count(role == Role::kernel          ? AccountRow::kernel
            : role == Role::communication ? AccountRow::communication
            : role == Role::memset        ? AccountRow::memset
                                          : AccountRow::memcpy,
            span);
    });
  }

  void add(AccountRow row, std::int64_t ns) {
    if (ns <= 0) return;
    AccountSum& sum = account_[row];
    add_to(sum.ns, ns);
    ++sum.n;
    sum.lengthen(ns, next_);
    if (ns >= kLongPart) add_to(sum.long_ns, ns);
    add_to(told_ns_, ns);
  }

  // Calls add(), and notes which row got most of the time.
  template <typename Add>
  void add_gap(const Interval& time, Add add) {
    if (gaps_ == nullptr || time.to_ns <= time.from_ns) return add();
    ByEnum<AccountRow, std::int64_t> before;
    for (const AccountRow row : kAllOf<AccountRow>) before[row] = account_[row].ns;
    std::size_t piece = pieces_.size();
    add();
    IdleGap gap{time, AccountRow::dataloader, loader_.in(time)};
    for (const AccountRow row : kAllOf<AccountRow>)
      if (const std::int64_t ns = account_[row].ns - before[row]; ns > gap.ns)
        gap = {time, row, ns};
    std::int64_t longest_ns = 0;
    for (; piece < pieces_.size(); ++piece)
      if (pieces_[piece].row == gap.row && pieces_[piece].ns > longest_ns) {
        longest_ns = pieces_[piece].ns;
        gap.name = pieces_[piece].name;
      }
    if (gap.ns > 0) gaps_->push_back(gap);
  }

  void find_gaps_of_devices() {
    const WorkList work = all_work(rank_);
    const GapKinds kinds(run_, rank_, work);
    const std::vector<DeviceGap> gaps = find_gaps(work, kUsualKernelGap, rank_.unrecorded);
    count(work, kinds);
    if (!work.empty() && !rest_.steps.empty()) {
      const Interval before{rest_.steps.front().from_ns, work.front().span.start_ns};
      Interval behind{std::numeric_limits<std::int64_t>::min(), rest_.steps.back().to_ns};
      for (const WorkPiece& piece : work)
        behind.from_ns = std::max(behind.from_ns, piece.span.end_ns);
      Intervals windows{before};
      for (const DeviceGap& gap : gaps)
        if (gap.length_ns() >= HostReasons::kLeastPiece) windows.push_back(gap.time);
      windows.push_back(behind);
      std::erase_if(windows, [](const Interval& time) { return time.to_ns <= time.from_ns; });
      HostReasons reasons(run_, rank_, roles_, rest_.all, windows,
                          kinds.launching_tracks(HostReasons::kMostThreads));
      const std::uint32_t first =
          work.front().call == nullptr ? kNoTrack : work.front().call->track;
      add_gap(before, [&] { add_outside(reasons, before, first); });
      for (const DeviceGap& gap : gaps) {
        kinds.find_parts(gap, parts_);
        next_ = run_.labels.name(gap.next);
        for (const GapPart& part : parts_) add_gap(part.time, [&] { add(reasons, part); });
      }
      next_ = {};
      add_gap(behind, [&] { add_outside(reasons, behind, kinds.last_launcher()); });
      find_frames(reasons);
    }
    // The other time is between two recordings.
    add(AccountRow::not_recorded, total_ns(rest_.all) - told_ns_);
    const bool is_lone = !shows_recurrence(rank_, step_starts_.size());
    const auto recurring = is_lone ? find_recurring() : std::set<std::string_view>();
    add_names(run_, rank_, std::move(pieces_), step_starts_, account_);
    for (NamedTime& name : account_[AccountRow::host_operator].names)
      name.recurs = !is_lone || recurring.contains(name.name);
  }

  // Returns the operators whose calls on a thread are alike: the median one has at least half of
  // the time that the mean one has in pieces. First uses are longer than later ones.
  std::set<std::string_view> find_recurring() const {
    struct Times {
      Intervals pieces;
      std::vector<HostSpan> calls;
    };
    std::map<std::pair<std::uint32_t, std::string_view>, Times> operators;
    for (const Piece& piece : pieces_)
      if (piece.row == AccountRow::host_operator)
        operators[{piece.span.track, piece.name}].pieces.push_back(piece.span.interval());
    rank_.for_each_host([&](const HostSpan& span) {
      const auto found = operators.find({span.track, run_.labels.name(span.label)});
      if (found != operators.end() && holds_any(rest_.steps, span.interval()))
        found->second.calls.push_back(span);
    });
    std::set<std::string_view> recurring;
    for (auto& [key, times] : operators) {
      remove_overlaps(times.calls);
      IntervalLengths lengths(times.pieces);
      std::vector<std::int64_t> each_ns;
      for (const HostSpan& call : times.calls) each_ns.push_back(lengths.in(call.interval()));
      std::ranges::sort(each_ns);
      const std::size_t n = each_ns.size();
      if (n >= kLeastCalls && 2 * Int128{each_ns[(n - 1) / 2]} * n >= total_ns(times.pieces))
        recurring.insert(key.second);
    }
    return recurring;
  }

  void count(const WorkList& work, const GapKinds& kinds) {
    infers_ = kinds.infers();
    account_.work = work.size();
    for (const WorkPiece& piece : work) {
      if (piece.call == nullptr) {
        if (holds_any(rest_.steps, piece.span.interval())) ++account_.unlinked;
        continue;
      }
      ++account_.linked;
      if (length_ns(piece.span.interval()) < length_ns(piece.call->interval())) ++account_.shorter;
    }
    account_.launches = kinds.launches_in(rest_.steps);
  }

  void add_outside(HostReasons& reasons, const Interval& time, std::uint32_t track) {
    const std::int64_t ns = time.to_ns > time.from_ns ? all_.in(time) : 0;
    if (ns <= 0) return;
    add(AccountRow::outside, ns);
    reasons.find(track, time, [&](AccountRow row, std::int64_t some_ns, const HostPiece& piece) {
      if (!piece.name.empty())
        pieces_.push_back({AccountRow::outside, piece.span, piece.name, some_ns});
      if (row == AccountRow::host_code) codes_outside_.push_back({track, time});
      if (row == AccountRow::idle)
        account_[AccountRow::outside].names.push_back(
            {std::string(kNothingRecorded), {}, some_ns, 1, 1, some_ns});
    });
  }

  void add(HostReasons& reasons, const GapPart& part) {
    const std::int64_t ns = all_.in(part.time);
    if (ns <= 0) return;
    switch (part.kind) {
      case GapKind::host_wait:
        return add_host_wait(reasons, part);
      case GapKind::turn_around:
        return add(AccountRow::turn_around, ns);
      case GapKind::queued:
        if (part.blocked_in != nullptr) add_piece(AccountRow::queued, part);
        return add(AccountRow::queued, ns);
      case GapKind::blocked:
        add_piece(AccountRow::blocked, part);
        return add(AccountRow::blocked, ns);
      case GapKind::not_recorded:
        return add(AccountRow::not_recorded, ns);
    }
  }

  // The call has only its own time of the part.
  void add_piece(AccountRow row, const GapPart& part) {
    const HostSpan& call = *part.blocked_in;
    const std::int64_t ns = all_.in(
        {std::max(call.start_ns, part.time.from_ns), std::min(call.end_ns, part.time.to_ns)});
    if (ns > 0) pieces_.push_back({row, call, run_.labels.name(call.label), ns});
  }

  void add_host_wait(HostReasons& reasons, const GapPart& part) {
    reasons.find(part.track, part.time,
                 [&](AccountRow row, std::int64_t ns, const HostPiece& piece) {
                   add(row, ns);
                   add_to(account_.beside_ns, piece.beside_ns);
                   if (infers_) add_to(account_[row].inferred_ns, ns);
                   if (!piece.name.empty()) pieces_.push_back({row, piece.span, piece.name, ns});
                   if (row == AccountRow::host_code) codes_.push_back({part.track, part.time});
                 });
  }

  // The time of Python alone on a thread.
  struct Code {
    std::uint32_t track;
    Interval time;
  };

  std::vector<FrameSum> frames_in(const HostReasons& reasons,
                                  const std::vector<Code>& codes) const {
    std::map<std::uint32_t, Intervals> times;
    for (const Code& code : codes) times[code.track].push_back(code.time);
    Intervals all;
    for (auto& [track, time] : times)
      for (const Interval& piece : intersect(unite(std::move(time)), reasons.code(track)))
        all.push_back(piece);
    all = unite(std::move(all));
    if (static_cast<double>(total_ns(all)) <= kWorthFrames * static_cast<double>(total_ns_))
      return {};
    return top_frames(run_, rank_, all, rest_.steps);
  }

  void find_frames(const HostReasons& reasons) {
    account_.frames = frames_in(reasons, codes_);
    for (const FrameSum& frame : frames_in(reasons, codes_outside_))
      account_[AccountRow::outside].names.push_back({frame.text(), {}, frame.ns, 1, 1, frame.ns});
  }

  // The host's own work on a rank without devices; the names are of the busiest thread.
  void find_host() {
    const Intervals calls = intersect(rest_.all, unpacked(roles_.sets[Role::runtime]));
    const Intervals operators =
        subtract(intersect(rest_.all, unpacked(roles_.sets[Role::cpu])), calls);
    const Intervals rest = subtract(subtract(rest_.all, calls), operators);
    const Intervals code = intersect(rest, unpacked(roles_.sets[Role::host_code]));
    for (const auto& [row, times] :
         {std::pair{AccountRow::host_call, calls}, std::pair{AccountRow::host_operator, operators},
          std::pair{AccountRow::host_code, code},
          std::pair{AccountRow::not_recorded, subtract(rest, code)}})
      for (const Interval& time : times) add(row, length_ns(time));
    if (!code.empty()) account_.frames = top_frames(run_, rank_, code, rest_.steps);
    name_host(calls, operators);
  }

  void name_host(const Intervals& calls, const Intervals& operators) {
    const std::uint32_t track = busiest_thread(rank_);
    const HostTimeline timeline(run_, rank_, {track});
    IntervalLengths of_calls(calls);
    IntervalLengths of_operators(operators);
    std::map<std::pair<AccountRow, std::string_view>, NamedTime> names;
    std::map<const NamedTime*, std::size_t> last_steps;
    for (const Interval& steps : rest_.steps)
      for (const HostPart& part : timeline.parts_of(track, steps)) {
        const bool is_call = !part.call.empty();
        const std::string_view name = is_call ? part.call : part.op;
        const std::int64_t ns = (is_call ? of_calls : of_operators).in(part.time);
        if (name.empty() || ns <= 0) continue;
        NamedTime& sum = names[{is_call ? AccountRow::host_call : AccountRow::host_operator, name}];
        add_to(sum.ns, ns);
        ++sum.n;
        sum.longest_ns = std::max(sum.longest_ns, ns);
        const std::size_t step = steps_until(step_starts_, part.time.from_ns);
        if (std::exchange(last_steps[&sum], step) != step) ++sum.steps;
      }
    for (auto& [key, sum] : names) {
      sum.name = key.second;
      account_[key.first].names.push_back(std::move(sum));
    }
  }

  const Run& run_;
  const RankEvents& rank_;
  const RankRoles& roles_;
  RestOfSteps rest_;
  IntervalLengths all_;
  IntervalLengths loader_;
  IdleGaps* gaps_;  // nullptr: nobody asks for them
  bool infers_ = false;
  std::int64_t total_ns_ = 0;
  std::int64_t told_ns_ = 0;
  std::vector<std::int64_t> step_starts_;
  std::vector<GapPart> parts_;
  std::string_view next_;  // the work that ends the gap
  std::vector<Code> codes_;
  std::vector<Code> codes_outside_;
  std::vector<Piece> pieces_;
  Account account_;
};

// Moves a name with its time to another row.
void move_name(const NamedTime& name, AccountSum& from, AccountSum& to, bool keeps_name) {
  from.ns -= name.ns;
  from.n -= std::min(from.n, name.n);
  add_to(to.ns, name.ns);
  to.n += name.n;
  to.lengthen(name.longest_ns);
  // Pieces that have a name are long.
  from.long_ns -= std::min(from.long_ns, name.ns);
  add_to(to.long_ns, name.ns);
  if (keeps_name) to.names.push_back(name);
}

// Moves what does not recur to `once`, and calls that launch in most steps to `launch`.
void sort_by_steps(Account& account, std::size_t steps, bool has_several) {
  for (const AccountRow row : {AccountRow::host_call, AccountRow::host_operator}) {
    AccountSum& sum = account[row];
    const bool is_call = row == AccountRow::host_call;
    const std::size_t moved = std::erase_if(sum.names, [&](const NamedTime& name) {
      const bool is_once = has_several ? 2 * name.steps < steps : is_call || !name.recurs;
      const bool is_launch = is_call && is_launching(name.name);
      if (!is_once && !is_launch) return false;
      move_name(name, sum, account[is_once ? AccountRow::once : AccountRow::launch], is_once);
      return true;
    });
    if (moved > 0) sum.longest_ns = 0;
    for (const NamedTime& name : sum.names) sum.lengthen(name.longest_ns);
  }
}

// Returns the row to which sort_by_steps() has moved the name of a gap.
AccountRow row_after_sorting(const IdleGap& gap, const Account& account) {
  if (gap.row != AccountRow::host_call && gap.row != AccountRow::host_operator) return gap.row;
  for (const AccountRow row : {gap.row, AccountRow::once})
    for (const NamedTime& one : account[row].names)
      if (one.name == gap.name) return row;
  return AccountRow::launch;
}

}  // namespace

Account find_account(const Run& run, const std::vector<RankRoles>& roles,
                     const std::vector<std::size_t>& ranks, std::vector<IdleGaps>* gaps) {
  Account all;
  if (gaps != nullptr) gaps->resize(run.ranks.size());
  const auto find = [&](std::size_t rank) {
    return AccountFinder(run, run.ranks[rank], roles[rank],
                         gaps == nullptr ? nullptr : &(*gaps)[rank])
        .find();
  };
  for (const Account& account : per_rank<Account>(run, ranks, find)) add(all, account);
  join_names(all);
  std::size_t steps = 0;
  bool has_several = false;
  for (const std::size_t rank : ranks) {
    StepSum counted;
    counted.add_counted(roles[rank].steps);
    steps += counted.count();
    has_several |= shows_recurrence(run.ranks[rank], counted.count());
  }
  sort_by_steps(all, steps, has_several);
  for (std::size_t i = 0; gaps != nullptr && i < gaps->size(); ++i)
    for (IdleGap& gap : (*gaps)[i]) gap.row = row_after_sorting(gap, all);
  keep_longest(all);
  return all;
}

}  // namespace traceloom
