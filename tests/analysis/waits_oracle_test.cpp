// Waits in matched collectives against the slow, obvious answer, over random jobs.
#include "analysis/waits/rank_waits.h"
#include "oracle/waits.h"
#include "support/run_texts.h"
#include "support/trace_text.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

using namespace traceloom;

namespace {

const std::uint64_t kWaitSeeds = tries(300);

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  int below(int number) { return static_cast<int>(engine_() % static_cast<unsigned>(number)); }

 private:
  std::mt19937 engine_;
};

// Steps with gaps between them, and collectives of all ranks and of the first two, which overlap,
// take no time, straddle steps, are outside of them, or are lost by a rank; and other work of the
// devices. Every clock is wrong.
std::vector<std::string> random_job(std::uint32_t seed) {
  Dice dice(seed);
  const int ranks = 2 + dice.below(3);
  const int steps = 1 + dice.below(3);
  const int collectives = 1 + dice.below(8);
  const int losses = dice.below(3) * 10;  // losses of 100 events
  std::vector<TraceText> traces(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    for (int step = 0; step < steps; ++step)
      traces[static_cast<std::size_t>(rank)]
          .cat("user_annotation")
          .x(fmt::format("ProfilerStep#{}", 3 + step), 1000 * rank + step * 60 + 10, 50);
  for (int seq = 0; seq < collectives; ++seq) {
    const int group = dice.below(3) == 0 ? 1 : 0;
    for (int rank = 0; rank < (group == 1 ? 2 : ranks); ++rank) {
      const int from = 1000 * rank + dice.below(steps * 60 + 10);
      const int length = dice.below(25);
      if (dice.below(100) < losses) continue;
      traces[static_cast<std::size_t>(rank)].cat("kernel").x(
          "ncclDevKernel_AllReduce", from, length,
          fmt::format(R"({{"Process Group Name": "{}", "Seq": {}}})", group, seq));
    }
  }
  static constexpr const char* kWork[][2] = {
      {"kernel", "gemm"}, {"gpu_memcpy", "Memcpy HtoD"}, {"gpu_memset", "Memset"}};
  for (int rank = 0; rank < ranks; ++rank)
    for (int i = dice.below(6); i > 0; --i) {
      const auto& [category, name] = kWork[dice.below(3)];
      const int from = 1000 * rank + dice.below(steps * 60 + 10);
      traces[static_cast<std::size_t>(rank)].cat(category).x(name, from, dice.below(15));
    }
  std::vector<std::string> texts;
  texts.reserve(traces.size());
  for (const TraceText& trace : traces) texts.push_back(trace.array());
  return texts;
}

}  // namespace

TEST_CASE("waits: those in matched collectives are those of the oracle") {
  std::size_t matched = 0;
  for (std::uint32_t seed = 0; seed < kWaitSeeds; ++seed) {
    CAPTURE(seed);
    const std::vector<std::string> texts = random_job(seed);
    std::vector<std::pair<std::string, std::string>> files;
    for (std::size_t rank = 0; rank < texts.size(); ++rank)
      files.emplace_back(fmt::format("rank{}.json", rank), texts[rank]);
    const Run run = read_texts(files, {.threads = 1 + seed % 3});
    const RankWaits waits = find_waits(run, find_all_roles(run));
    // Runs without collectives, or with collectives that take no time, are not compared.
    if (!waits.without_communication.empty() || waits.kind == MeetingKind::none) continue;
    const std::optional<oracle::Waits> expected = oracle::find_waits(texts);
    CHECK(waits.one_by_one == expected.has_value());
    if (!expected) continue;
    ++matched;
    CHECK(waits.wait_ns == expected->wait_ns);
    CHECK(waits.delay_ns == expected->delay_ns);
  }
  CHECK(matched > kWaitSeeds / 2);
  CHECK(matched < kWaitSeeds);
}
