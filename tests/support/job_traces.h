// The traces of a small data-parallel job, for tests of what compares ranks.
//
//   JobTraces job{.ranks = 4, .steps = 5};
//   job.loader_us[2] = 60;                          // rank 2 waits longer for its data
//   Run run = read_texts(job.torch());
#pragma once

#include "support/trace_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

// In each step every rank waits for its data, works, and then meets the others in an all-reduce,
// which takes `meeting_us` after the last rank has come.
struct JobTraces {
  using Files = std::vector<std::pair<std::string, std::string>>;

  int ranks = 4;
  int steps = 5;
  int meeting_us = 10;
  std::map<int, int> loader_us = {};  // keyed by rank; 5 for ranks without an entry
  std::map<int, int> work_us = {};    // keyed by rank; 40 for ranks without an entry

  // Writes the job like torch.profiler, on the host alone; every rank's clock is wrong by hours.
  Files torch() const {
    Files files;
    for (int rank = 0; rank < ranks; ++rank) {
      TraceText trace;
      for (int step = 0; step < steps; ++step) {
        const std::int64_t at = step * step_us() + rank * std::int64_t{1'000'000'000};
        const std::int64_t met = at + ready_us(rank);
        trace.cat("user_annotation");
        trace.x("ProfilerStep#" + std::to_string(step), at, step_us());
        trace.x("enumerate(DataLoader)#It.__next__", at, loader_of(rank));
        trace.cat("cpu_op").x("aten::mm", at + loader_of(rank), met - at - loader_of(rank));
        trace.cat("user_annotation").x("gloo:all_reduce", met, at + step_us() - met);
      }
      files.emplace_back("rank" + std::to_string(rank) + ".json", trace.array());
    }
    return files;
  }

  // Writes the job like Composer, without collectives: the ranks meet in event/backward.
  Files composer() const {
    Files files;
    for (int rank = 0; rank < ranks; ++rank) {
      TraceText trace;
      trace.composer_rank(rank, "1000");
      for (int step = 0; step < steps; ++step) {
        const std::string args = "{\"epoch\": 0, \"batch\": " + std::to_string(step) + "}";
        const int at = step * step_us();
        const int loaded = at + loader_of(rank);
        trace.b("dataloader/train", at, args).e("dataloader/train", loaded, args);
        trace.b("event/batch", loaded, args).b("event/forward", loaded, args);
        trace.e("event/forward", at + ready_us(rank), args);
        trace.b("event/backward", at + ready_us(rank), args);
        trace.e("event/backward", at + step_us(), args).e("event/batch", at + step_us(), args);
      }
      files.emplace_back("ep0-ba5-rank" + std::to_string(rank) + ".json", trace.array());
    }
    return files;
  }

 private:
  static int find(const std::map<int, int>& values, int rank, int otherwise) {
    const auto found = values.find(rank);
    return found == values.end() ? otherwise : found->second;
  }
  int loader_of(int rank) const { return find(loader_us, rank, 5); }
  int ready_us(int rank) const { return loader_of(rank) + find(work_us, rank, 40); }
  int step_us() const {
    int last = 0;
    for (int rank = 0; rank < ranks; ++rank) last = std::max(last, ready_us(rank));
    return last + meeting_us;
  }
};

}  // namespace traceloom
