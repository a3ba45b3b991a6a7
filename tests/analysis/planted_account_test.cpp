// Captures of one rank in which it is known where each microsecond of its steps goes: the account
// has the same rows, and the verdict is the largest gain of those that were planted. Some mark no
// steps, so that all is one: there an operator recurs that is long each time, and not one that is
// long in its first calls.
#include "analysis/verdict/verdict.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

using Rows = ByEnum<AccountRow, std::int64_t>;  // us

// A device that has nothing to do between two pieces of work, and a thread that may be the reason.
class PlantedCapture {
 public:
  explicit PlantedCapture(std::uint64_t seed) : random_(seed) {
    steps_ = pick(6, 10);
    choose_causes();
    std::int64_t begin_us = 0;
    for (int step = 0; step < steps_; ++step) {
      if (step == 0) add_lead();
      if (step > 0) begin_launching(kShort);
      launch_now(step == 0 ? AccountRow::outside : AccountRow::launch);
      work(AccountRow::kernel, kShort, "first");
      for (const auto& [row, us] : causes_) plant(row, us + pick(0, us / 50), step);
      if (step + 1 == steps_) add_tail();
      trace_.tid("1").cat("user_annotation");
      if (!is_lone_) trace_.x(fmt::format("ProfilerStep#{}", step), begin_us, now_us_ - begin_us);
      trace_.x("forward", begin_us, now_us_ - begin_us);  // a name, which covers nothing
      begin_us = now_us_;
    }
    add_other_thread();
  }

  std::string text() const {
    return trace_.object(R"("distributedInfo": {"rank": 0, "world_size": 1})");
  }
  std::int64_t total_us() const { return now_us_; }

  // The most that would be saved without each limit.
  ByLimit<std::int64_t> gains() const {
    using enum AccountRow;
    ByLimit<std::int64_t> gains{};
    gains[Limit::data_loading] = rows[dataloader];
    gains[Limit::communication] = rows[communication];
    gains[Limit::memory] = rows[memcpy] + rows[memset];
    gains[Limit::launch_bound] = rows[launch];
    gains[Limit::host_operator] = rows[host_operator];
    gains[Limit::host_call] = rows[host_call];
    gains[Limit::host_code] = rows[host_code];
    gains[Limit::blocked] = rows[blocked];
    gains[Limit::queued] = rows[queued];
    gains[Limit::turn_around] = rows[turn_around];
    gains[Limit::profiler] = rows[profiler];
    gains[Limit::idle] = rows[idle];
    for (const auto& [name, us] : kernels_)
      gains[Limit::compute] = std::max(gains[Limit::compute], us);
    return gains;
  }
  // Most of the steps is in no gain, or much of them may be of any.
  bool may_be_open() const {
    const std::int64_t no_gain_us =
        rows[AccountRow::outside] + rows[AccountRow::capture] + rows[AccountRow::once];
    return 2 * no_gain_us > total_us() || 20 * rows[AccountRow::not_recorded] >= total_us();
  }

  Rows rows{};

 private:
  static constexpr int kShort = 10;

  int pick(int from, int to) {
    return from + static_cast<int>(random_() % static_cast<std::uint64_t>(to - from + 1));
  }

  void choose_causes() {
    using enum AccountRow;
    std::vector<AccountRow> all{
        kernel, communication, memcpy,    memset,    dataloader, turn_around, queued, blocked,
        launch, host_operator, host_call, host_code, profiler,   capture,     idle,   not_recorded};
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(static_cast<std::size_t>(pick(2, 7)));
    calls_once_ = pick(0, 2) == 0;
    is_lone_ = pick(0, 3) == 0;
    warms_up_ = is_lone_ && pick(0, 1) == 0;
    for (const AccountRow row : all) {
      // One is longer than the others, now and then.
      const int us = pick(300, 600) * (pick(0, 3) == 0 ? 5 : 1);
      causes_.emplace_back(row, row == not_recorded ? us / 4 : us);
    }
  }

  TraceText& host(std::string_view category) { return trace_.tid("1").cat(category); }

  // A short operator, at the end of which something is launched.
  void begin_launching(int us) {
    host("cpu_op").x("aten::add", now_us_, us + 2);
    pass(AccountRow::launch, us);
  }
  // A call of 2 us that launches the work that begins when it ends.
  void launch_now(AccountRow row = AccountRow::launch) {
    host("cuda_runtime").x("cudaLaunchKernel", now_us_, 2, linked(++correlation_));
    rows[row] += 2;
    now_us_ += 2;
  }
  // The same while the last work goes on.
  void launch_ahead() {
    host("cuda_runtime").x("cudaLaunchKernel", now_us_ - 4, 2, linked(++correlation_));
  }
  std::string linked(int correlation) const {
    return fmt::format(R"({{"device": 0, "stream": {}, "correlation": {}}})", stream_, correlation);
  }

  void work(AccountRow row, int us, const std::string& name) {
    trace_.tid(std::to_string(stream_))
        .cat(row == AccountRow::memcpy   ? "gpu_memcpy"
             : row == AccountRow::memset ? "gpu_memset"
                                         : "kernel");
    trace_.x(name, now_us_, us, linked(correlation_));
    rows[row] += us;
    if (row == AccountRow::kernel) kernels_[name] += us;
    now_us_ += us;
  }
  void pass(AccountRow row, int us) {
    rows[row] += us;
    now_us_ += us;
  }

  // Plants a time of that row, and the work that it delays.
  void plant(AccountRow row, int us, int step) {
    using enum AccountRow;
    switch (row) {
      case kernel:
        launch_ahead();
        return work(kernel, us, fmt::format("gemm_{}", pick(0, 1)));
      case communication:
        launch_ahead();
        return work(communication, us, "ncclDevKernel_AllReduce_Sum_f32");
      case memcpy:
        launch_ahead();
        return work(memcpy, us, "Memcpy HtoD (Pinned -> Device)");
      case memset:
        launch_ahead();
        return work(memset, us, "Memset (Device)");
      case turn_around:
      case queued:
        // What the host does meanwhile delays nothing.
        if (row == queued) stream_ = stream_ == 7 ? 8 : 7;
        launch_ahead();
        if (pick(0, 1) == 0)
          host("cpu_op").x("aten::normal_", now_us_, us);
        else
          host("cuda_runtime").x("cudaDeviceSynchronize", now_us_, us);
        pass(row, us);
        return work(kernel, kShort, "next");
      case not_recorded:
        pass(row, us);
        ++correlation_;
        return work(kernel, kShort, "next");
      case AccountRow::launch:
        while (us > 0) {
          const int one_us = 40;
          begin_launching(one_us);
          launch_now();
          work(kernel, kShort, "add");
          us -= one_us;
        }
        return;
      case host_call:
        if (calls_once_ && step != steps_ / 2) return;
        break;
      case host_operator:
        if (warms_up_ && step > 1) us = kShort;
        break;
      default:
        break;
    }
    wait_for_host(row, us);
    const bool is_once = row == host_call && (calls_once_ || is_lone_);
    if (is_once || (row == host_operator && warms_up_)) {
      rows[row] -= us;
      rows[us == kShort ? AccountRow::launch : once] += us;
    }
    launch_now();
    work(kernel, kShort, "next");
  }

  void wait_for_host(AccountRow row, int us) {
    using enum AccountRow;
    const std::int64_t at = now_us_;
    switch (row) {
      case dataloader:
        host("user_annotation")
            .x("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", at, us);
        break;
      case blocked:
        host("cuda_runtime").x("cudaStreamSynchronize", at - 2, us + 2);
        break;
      case host_operator:
        host("cpu_op").x("aten::randn", at, us + 4).x("aten::normal_", at + 3, us);
        pass(AccountRow::launch, 4);  // what is around it
        break;
      case host_call:
        host("cpu_op").x("aten::empty", at, us + 4);
        host("cuda_runtime").x("cudaMalloc", at + 3, us);
        pass(AccountRow::launch, 4);
        break;
      case host_code:
        host("python_function")
            .x("train.py(7): loss", at, us)
            .x("train.py(9): norm", at + 5, us - 9);
        break;
      case profiler:
        host("overhead").x("Activity Buffer Request", at, us);
        break;
      case capture:
        host("cuda_runtime").x("cudaStreamBeginCapture", at, 1);
        host("cpu_op").x("aten::mm", at + 5, 20);
        host("cuda_runtime").x("cudaStreamEndCapture", at + us - 1, 1);
        break;
      default:
        break;
    }
    pass(row, us);
  }

  // Before the first and after the last work, now and then for about as long as a cause. A longer
  // first step is one of start-up.
  void add_lead() {
    int us = kShort;
    if (pick(0, 3) == 0)
      for (const auto& [row, cause_us] : causes_)
        if (row != AccountRow::host_call) us = std::max(us, cause_us / 2);
    host("cpu_op").x("aten::empty", 0, us);
    pass(AccountRow::outside, us);
  }
  void add_tail() {
    const int us = pick(0, 3) == 0 ? pick(100, 9000) : 0;
    if (us > 0) host("cpu_op").x("aten::clone", now_us_, us);
    pass(AccountRow::outside, us);
  }

  // It launches nothing, so that it changes no row.
  void add_other_thread() {
    if (pick(0, 1) == 0) return;
    trace_.tid("2").cat("cpu_op");
    for (std::int64_t at = 0; at + 500 <= now_us_; at += 500) trace_.x("aten::to", at, 400);
    trace_.cat("python_function").x("monitor.py(1): watch", 0, now_us_);
  }

  std::mt19937_64 random_;
  TraceText trace_;
  std::int64_t now_us_ = 0;
  int steps_;
  int stream_ = 7;
  int correlation_ = 0;
  bool calls_once_ = false;
  bool is_lone_ = false;                            // no step is marked
  bool warms_up_ = false;                           // only the first calls of an operator are long
  std::vector<std::pair<AccountRow, int>> causes_;  // of each step
  std::map<std::string, std::int64_t> kernels_;
};

// Each gap has one cause, but for a few us.
void check_gaps(const Run& run, const PlantedCapture& planted) {
  std::vector<IdleGaps> gaps;
  find_account(run, find_all_roles(run), {0}, &gaps);
  REQUIRE(gaps.size() == 1);
  ByEnum<AccountRow, std::int64_t> sums;
  std::int64_t end_ns = 0;
  for (const IdleGap& gap : gaps[0]) {
    CHECK(gap.time.from_ns >= end_ns);
    CHECK(gap.ns <= length_ns(gap.time));
    end_ns = gap.time.to_ns;
    sums[gap.row] += gap.ns;
    const bool is_named = gap.row == AccountRow::blocked || gap.row == AccountRow::host_operator;
    CHECK(gap.name.empty() <= !is_named);
  }
  for (const AccountRow row : kAllOf<AccountRow>)
    if (sums[row] > 0) CHECK_MESSAGE(sums[row] <= planted.rows[row] * 1000, account_row_name(row));
  for (const AccountRow row : {AccountRow::turn_around, AccountRow::queued, AccountRow::blocked,
                               AccountRow::host_operator, AccountRow::idle, AccountRow::once})
    CHECK_MESSAGE(10 * sums[row] >= 8 * planted.rows[row] * 1000, account_row_name(row));
}

}  // namespace

TEST_CASE("planted account: each row is what was planted, and the verdict the largest gain") {
  int open = 0;
  constexpr int kSeeds = 200;
  for (int seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const PlantedCapture planted(static_cast<std::uint64_t>(seed));
    const Run run = read_texts({{"rank0.json", planted.text()}}, {.python = true});
    const Findings found(run);
    const Verdict verdict = find_verdict(found);
    REQUIRE(found.basis.steps.sum().total_ns == planted.total_us() * 1000);
    for (const AccountRow row : kAllOf<AccountRow>)
      CHECK_MESSAGE(found.account[row].ns == planted.rows[row] * 1000, account_row_name(row));
    check_gaps(run, planted);
    const ByLimit<std::int64_t> gains = planted.gains();
    const auto weight = [&](Limit limit) {
      return static_cast<double>(gains[limit]) * gain_weight(limit);
    };
    double most_us = 0;
    for (const Limit limit : kAllOf<Limit>) {
      const double share =
          static_cast<double>(gains[limit]) / static_cast<double>(planted.total_us());
      const double gain = verdict.gains[limit].share();
      // Of less nobody asks where it is.
      CHECK_MESSAGE((gain == doctest::Approx(share) || std::max(gain, share) < kWorthNaming),
                    limit_name(limit));
      most_us = std::max(most_us, weight(limit));
    }
    if (verdict.kind == Limit::inconclusive) {
      CHECK(planted.may_be_open());
      ++open;
    } else {
      CHECK_MESSAGE(weight(verdict.kind) == most_us, limit_name(verdict.kind));
    }
  }
  CHECK(open < kSeeds / 4);
}
