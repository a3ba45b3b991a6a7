#include "trace_record/demo_training.h"

#include "common/terminal.h"
#include "record/host_recorder.h"
#include "record/memory_scope.h"
#include "record/names/trace_folder.h"
#include "record/recorder.h"
#include "trace_record/demo_model.h"
#include "trace_record/demo_team.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace traceloom {
namespace {

using namespace record;

constexpr float kLearningRate = 0.02F;

// The names are those of Composer's events, which trace-stats knows.
const Marker kEpoch("event/epoch", "", {.long_running = true});
const Marker kDataloader("event/dataloader");
const Marker kBatch("event/batch");
const Marker kForward("event/forward");
const Marker kBackward("event/backward");
const Marker kRead("read", "loader");
const Marker kDecode("decode", "loader");
const Marker kAllReduce("shm:all_reduce", "collective", "bytes");
const Marker kOptimizer("optimizer_step", "optimizer");

RunIdentity identity_of(const DemoOptions& options, std::int64_t rank) {
  return {default_run_name(),
          {.rank = rank,
           .local_rank = rank,
           .world_size = options.ranks,
           .local_world_size = options.ranks,
           .node_rank = 0}};
}

Options session_options(const DemoOptions& options, const RunIdentity& run, DemoTeam& team) {
  Options session = demo_session_options(options, run.place.rank);
  session.schedule = cyclic_schedule(options.schedule);
  session.barrier = [&team] { team.barrier(); };
  if (options.clock_skew_ns != 0 || options.clock_drift_ppm != 0)
    session.on_saved = [skew = skew_of(options, run.place.rank)](const SavedTrace& trace) {
      skew_trace(trace.path, skew);
    };
  return session;
}

class Training {
 public:
  Training(const DemoOptions& options, std::int64_t rank, DemoTeam& team)
      : options_(options),
        run_(identity_of(options, rank)),
        team_(team),
        loader_(static_cast<std::uint64_t>(options.seed), rank,
                static_cast<std::size_t>(options.batch_size)),
        model_(static_cast<std::uint64_t>(options.seed)),
        session_options_(session_options(options, run_, team)) {
    session_options_.log = [this](const std::string& line) { complain(line); };
    if (options.merges) merger_.emplace(merge_options(), session_options_);
    session_.emplace(session_options_);
    host_.emplace(sampler_options());
    position_.epoch_batches = options.batches;
    if (options.memory_stats) memory_ = std::make_unique<MemoryStats>(memory_options());
  }

  bool run() {
    for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch) run_epoch(epoch);
    session_->close();
    if (merger_) merger_->close();
    return !has_complained_;
  }

 private:
  // Any thread may call this.
  void complain(const std::string& what) {
    say("trace-record", Tone::note, what);
    has_complained_ = true;
  }

  NodeMergeOptions merge_options() {
    NodeMergeOptions merge = demo_merge_options(options_);
    merge.on_merged = [this](const NodeMerge& cycle) {
      if (!cycle.problem.empty())
        complain(fmt::format("merge of cycle {}: {}", cycle.cycle, cycle.problem));
    };
    return merge;
  }

  HostOptions sampler_options() const {
    HostOptions options = host_options_for(session_options_);
    options.interval_ns = options_.trace.interval_ns;
    return options;
  }

  MemoryStatsOptions memory_options() const {
    MemoryStatsOptions options;
    options.path = fmt::format("{}/rank_{}_memory_stats.yaml",
                               folder_of(names_of(options_.trace), run_), run_.place.rank);
    options.overwrite = options_.trace.overwrite;
    options.rank = run_.place.rank;
    options.counters = true;
    return options;
  }

  void run_epoch(std::int64_t epoch) {
    // If an epoch began in one trace and ended in the next, the two traces would seem to overlap.
    // So an epoch is recorded only if one trace holds all of it.
    std::optional<Scope> scope;
    if (is_recorded_whole()) scope.emplace(kEpoch);
    double first_loss = 0;
    for (std::int64_t batch = 0; batch < options_.batches; ++batch) {
      session_->batch_begin(position_);
      const double loss = run_batch(epoch, batch);
      if (batch == 0) first_loss = loss;
      if (batch + 1 == options_.batches) say_epoch(epoch, first_loss, loss);
      advance();
      if (batch + 1 == options_.batches) end_recording(epoch, scope);
      session_->batch_end(position_);
    }
    // No cycle begins after the last epoch.
    if (epoch + 1 < options_.epochs) end_epoch();
  }

  // Stops the host sampler before the last trace is saved. Later samples would get a trace of their
  // own.
  void end_recording(std::int64_t epoch, std::optional<Scope>& scope) {
    scope.reset();
    if (epoch + 1 == options_.epochs) host_.reset();
  }

  bool is_recorded_whole() const {
    const CyclicSchedule& schedule = options_.schedule;
    return schedule.skip_first == 0 && schedule.wait == 0 &&
           schedule.warmup + schedule.active >= options_.batches;
  }

  double run_batch(std::int64_t epoch, std::int64_t number) {
    const DemoBatch batch = load(epoch, number);
    std::optional<MemoryScope> memory;
    if (memory_) memory.emplace(*memory_, "training_step");
    const Scope scope(kBatch);
    const double loss = compute(batch);
    {
      const ScopeWith of_reduce(kAllReduce, model_.gradients().size_bytes());
      team_.all_reduce(static_cast<std::size_t>(run_.place.rank), model_.gradients());
    }
    kOptimizer.call([&] { model_.step(kLearningRate); });
    return loss;
  }

  DemoBatch load(std::int64_t epoch, std::int64_t number) const {
    const Scope scope(kDataloader);
    DemoBatch batch = kRead.call([&] {
      if (options_.slow_loader_ns > 0)
        std::this_thread::sleep_for(std::chrono::nanoseconds(options_.slow_loader_ns));
      return loader_.read(epoch, number);
    });
    kDecode.call([&] { DemoLoader::decode(batch); });
    return batch;
  }

  double compute(const DemoBatch& batch) {
    const double loss = kForward.call([&] { return model_.forward(batch); });
    kBackward.call([&] {
      model_.backward(batch);
      if (options_.straggler == run_.place.rank)
        std::this_thread::sleep_for(std::chrono::nanoseconds(options_.straggler_delay_ns));
    });
    return loss;
  }

  void advance() {
    ++position_.batch;
    ++position_.batch_in_epoch;
    const auto samples = static_cast<std::uint64_t>(options_.batch_size * options_.ranks);
    position_.sample += samples;
    position_.sample_in_epoch += samples;
  }

  void end_epoch() {
    ++position_.epoch;
    position_.batch_in_epoch = 0;
    position_.sample_in_epoch = 0;
    session_->set_position(position_);
  }

  void say_epoch(std::int64_t epoch, double first_loss, double last_loss) const {
    if (run_.place.rank != 0) return;
    fmt::print(
        "epoch {} of {}: loss {:.3f} -> {:.3f}, {:.0f} % of the last batch right\n", epoch + 1,
        options_.epochs, first_loss, last_loss,
        100 * static_cast<double>(model_.correct()) / static_cast<double>(options_.batch_size));
    std::fflush(stdout);
  }

  const DemoOptions& options_;
  RunIdentity run_;
  DemoTeam& team_;
  DemoLoader loader_;
  DemoModel model_;
  Position position_;
  std::atomic<bool> has_complained_ = false;
  Options session_options_;
  std::optional<NodeMerger> merger_;  // outlives session_
  std::optional<Session> session_;
  std::optional<HostRecorder> host_;
  std::unique_ptr<MemoryStats> memory_;
};

}  // namespace

std::size_t demo_gradient_count() {
  return DemoModel(0).gradients().size();
}

Options demo_session_options(const DemoOptions& options, std::int64_t rank) {
  const TraceNames names = names_of(options.trace);
  const RunIdentity run = identity_of(options, rank);
  Options session;
  session.rank = run.place.rank;
  session.local_rank = run.place.local_rank;
  session.node_rank = run.place.node_rank;
  session.world_size = run.place.world_size;
  session.local_world_size = run.place.local_world_size;
  session.folder = folder_of(names, run);
  session.name_template = names.file;
  session.overwrite = options.trace.overwrite;
  session.num_traces_to_keep = options.keep;
  return session;
}

NodeMergeOptions demo_merge_options(const DemoOptions& options) {
  NodeMergeOptions merge;
  merge.folder = options.merge_folder;
  merge.file_name = options.merged_name;
  return merge;
}

bool train_demo_rank(const DemoOptions& options, std::int64_t rank, DemoTeam& team) {
  return Training(options, rank, team).run();
}

}  // namespace traceloom
