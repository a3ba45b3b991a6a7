#include "analysis/coarse/time_line.h"

#include "base/units.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace traceloom {
namespace {

struct RankOperation {
  std::int64_t step = 0;
  OperationKind kind = OperationKind::forward_compute;
  std::int64_t number = 0;
  Interval time;

  auto key() const { return std::tuple(step, kind, number); }
};

// The operations of a rank by step, kind and number, or why they are none.
struct RankOperations {
  std::vector<RankOperation> all;
  std::string problem;
};

RankOperations find_operations(const Run& run, const RankEvents& rank,
                               const std::vector<NumberRange>& left_out_steps) {
  RankOperations found;
  std::map<std::string, std::size_t> others;
  rank.for_each_host([&](const HostSpan& span) {
    if (run.labels.kind(span.label).mark != SpanMark::operation)
      ++others[std::string(run.labels.name(span.label))];
  });
  if (!others.empty())
    found.problem = fmt::format("has {} of a kind that is not known: '{}'",
                                count_of(others.begin()->second, "event"), others.begin()->first);
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (span.mark != SpanMark::operation || is_in(left_out_steps, span.number)) return;
    const std::string_view name = run.labels.name(span.label);
    const std::string_view detail = run.details[span.arguments];
    const std::optional<std::int64_t> number = find_integer(detail, "seq_id");
    if (!number || span.number < 0)
      found.problem = fmt::format("has a {} without {}", name, number ? "step" : "seq_id");
    if (find_integer(detail, "model_chunk") > 0)
      found.problem = fmt::format(
          "has a {} of model_chunk {}: which messages of an interleaved "
          "pipeline belong together is not known",
          name, *find_integer(detail, "model_chunk"));
    found.all.push_back(
        {span.number, operation_kind(name).value(), number.value_or(0), span.interval()});
  });
  std::ranges::sort(found.all, {}, &RankOperation::key);
  const auto twice = std::ranges::adjacent_find(found.all, {}, &RankOperation::key);
  if (twice != found.all.end())
    found.problem = fmt::format("has two of {} {} in step {}", to_string(twice->kind),
                                twice->number, twice->step);
  return found;
}

// Collects the ranks of one run, and refuses what is no grid.
class Reader {
 public:
  Reader(const Run& run, const std::vector<NumberRange>& left_out_steps)
      : run_(run), of_ranks_(per_rank<RankOperations>(run, [&](std::size_t rank) {
          return find_operations(run, run.ranks[rank], left_out_steps);
        })) {}

  TimeLine read() {
    place_ranks();
    find_steps();
    for (std::size_t stage = 0; stage < line_.stages; ++stage) add_stage(stage);
    line_.ns.resize(line_.steps.size() * line_.replicas * line_.operations.size());
    std::size_t first = 0;
    for (std::size_t stage = 0; stage < line_.stages; ++stage) {
      for (const std::size_t rank : stages_[stage]) add_rank(rank, stage, first);
      first += per_step_[stage];
    }
    return std::move(line_);
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(run_.files.front().path, problem);
  }
  std::int64_t rank_at(std::size_t i) const { return run_.ranks[i].rank; }

  void place_ranks() {
    for (std::size_t i = 0; i < run_.ranks.size(); ++i) {
      const std::int64_t stage = run_.ranks[i].stage;
      if (!of_ranks_[i].problem.empty())
        refuse(fmt::format("rank {} {}", rank_at(i), of_ranks_[i].problem));
      if (stage < 0 || stage >= std::ssize(run_.ranks))
        refuse(stage < 0 ? fmt::format("rank {} has no row of a stage", rank_at(i))
                         : fmt::format("not all stages before stage {} are here", stage));
      stages_.resize(std::max(stages_.size(), static_cast<std::size_t>(stage) + 1));
      stages_[static_cast<std::size_t>(stage)].push_back(i);
    }
    line_.stages = stages_.size();
    line_.replicas = stages_.back().size();
    for (std::size_t stage = 0; stage < line_.stages; ++stage) {
      if (stages_[stage].size() != line_.replicas)
        refuse(fmt::format("stage {} has {}, stage {} has {}: the job has replicas of whole stages",
                           stage, count_of(stages_[stage].size(), "rank"), line_.stages - 1,
                           line_.replicas));
      for (const std::size_t i : stages_[stage]) line_.ranks.push_back(rank_at(i));
    }
  }

  void find_steps() {
    std::set<std::int64_t> steps;
    for (const RankOperations& rank : of_ranks_)
      for (const RankOperation& one : rank.all) steps.insert(one.step);
    line_.steps.assign(steps.begin(), steps.end());
    if (steps.empty()) refuse("has no operations in the steps that are asked for");
  }

  // Takes the operations of a stage from its first rank and the first step.
  void add_stage(std::size_t stage) {
    const std::size_t before = line_.operations.size();
    for (const RankOperation& one : of_ranks_[stages_[stage].front()].all)
      if (one.step == line_.steps.front())
        line_.operations.push_back({one.kind, one.number, stage, one.time});
    per_step_.push_back(line_.operations.size() - before);
  }

  void add_rank(std::size_t rank, std::size_t stage, std::size_t first) {
    const std::vector<RankOperation>& all = of_ranks_[rank].all;
    const std::size_t replica =
        static_cast<std::size_t>(std::ranges::find(stages_[stage], rank) - stages_[stage].begin());
    auto one = all.begin();
    for (std::size_t step = 0; step < line_.steps.size(); ++step)
      for (std::size_t i = first; i < first + per_step_[stage]; ++i, ++one) {
        const Operation& operation = line_.operations[i];
        const std::tuple wanted(line_.steps[step], operation.kind, operation.number);
        if (one == all.end() || wanted < one->key())
          refuse_difference(rank, "has no", operation, line_.steps[step]);
        if (one->key() < wanted) refuse_more(rank, stage, *one);
        line_.ns[(step * line_.replicas + replica) * line_.operations.size() + i] =
            one->time.to_ns - one->time.from_ns;
      }
    if (one != all.end()) refuse_more(rank, stage, *one);
  }

  [[noreturn]] void refuse_more(std::size_t rank, std::size_t stage,
                                const RankOperation& one) const {
    refuse_difference(rank, "has a", {one.kind, one.number, stage, {}}, one.step);
  }
  [[noreturn]] void refuse_difference(std::size_t rank, std::string_view has,
                                      const Operation& operation, std::int64_t step) const {
    refuse(
        fmt::format("rank {} {} {} in step {}, unlike rank {} in step {}: all replicas need the "
                    "same operations in all steps; --without-steps leaves steps out",
                    rank_at(rank), has, words_of(operation), step,
                    rank_at(stages_[operation.stage].front()), line_.steps.front()));
  }

  const Run& run_;
  std::vector<RankOperations> of_ranks_;
  std::vector<std::vector<std::size_t>> stages_;  // indices of ranks
  std::vector<std::size_t> per_step_;             // operations of a rank in a step, by stage
  TimeLine line_;
};

}  // namespace

std::string words_of(const Operation& operation) {
  return fmt::format("{} {} of stage {}", to_string(operation.kind), operation.number,
                     operation.stage);
}

TimeLine read_time_line(const Run& run, const std::vector<NumberRange>& left_out_steps) {
  return Reader(run, left_out_steps).read();
}

}  // namespace traceloom
