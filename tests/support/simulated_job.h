// SimulatedJob: the traces of ranks that run a program and wait for each other.
//
//   SimulatedJob job{.ranks = 2, .program = [](int rank, int) -> SimulatedJob::Program {
//     return {{"kernel", "gemm", 20 + 10 * rank}, {"kernel", "ncclAllReduce", 5, "0"}};
//   }};
//   read_texts(job.files());           // rank 0 spends 15 us in each all-reduce, rank 1 spends 5
#pragma once

#include "support/trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

struct SimulatedJob {
  using Files = std::vector<std::pair<std::string, std::string>>;
  // A piece of work. With a group it is a collective; it lasts this long after all ranks with a
  // collective of that group in the step have come. With `beside`, the next piece begins at the
  // same time.
  struct Work {
    std::string category;
    std::string name;
    int us = 0;
    std::string group = {};
    bool beside = false;
  };
  using Program = std::vector<Work>;  // work of a rank in a step

  int ranks = 4;
  int steps = 10;
  std::function<Program(int rank, int step)> program;
  std::vector<int> clocks_us = {};        // microseconds by which the clock of each rank is ahead
  std::vector<int> later_clocks_us = {};  // the same in the second half of the steps, if it differs

  bool launches = false;  // all work of a step is launched at its begin

  // Each file is an object with these members besides its events.
  Files files(std::string_view members = "") const {
    std::vector<Rank> all(static_cast<std::size_t>(ranks));
    for (int step = 0; step < steps; ++step) run_step(step, all);
    Files texts;
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      texts.emplace_back(fmt::format("rank{}.json", rank), all[rank].trace.object(members));
    return texts;
  }

 private:
  struct Rank {
    TraceText trace;
    int clock_us = 0;
    int now_us = 0;
    int launch_us = -1;  // -1: launches are not recorded
    int links = 0;
    Program program;
    std::size_t next = 0;

    bool is_done() const { return next == program.size(); }
    const Work& work() const { return program[next]; }
    bool waits_in(const std::string& group) const { return !is_done() && work().group == group; }
    bool comes_to(const std::string& group) const {
      return std::any_of(program.begin() + static_cast<std::ptrdiff_t>(next), program.end(),
                         [&](const Work& what) { return what.group == group; });
    }
    void add(const std::string& category, const std::string& name, int from_us, int to_us) {
      trace.cat(category).x(name, clock_us + from_us, to_us - from_us);
    }
    // `args` are members of an object.
    void do_work(int end_us, std::string args = "") {
      const Work& what = work();
      if (launch_us >= 0) {
        const std::string link = fmt::format(R"("correlation": {})", ++links);
        trace.cat("cuda_runtime").x("cudaLaunchKernel", clock_us + launch_us, 0, "{" + link + "}");
        args += (args.empty() ? "" : ", ") + link;
      }
      if (!args.empty()) args = "{" + args + "}";
      trace.cat(what.category).x(what.name, clock_us + now_us, end_us - now_us, args);
      if (!what.beside) now_us = end_us;
      ++next;
    }
  };

  void run_step(int step, std::vector<Rank>& all) const {
    std::vector<int> begins;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].program = program(static_cast<int>(i), step);
      all[i].next = 0;
      const std::vector<int>& clocks =
          step >= steps / 2 && !later_clocks_us.empty() ? later_clocks_us : clocks_us;
      if (i < clocks.size()) all[i].clock_us = clocks[i];
      begins.push_back(all[i].now_us);
      if (launches) all[i].launch_us = all[i].now_us;
    }
    do {
      for (Rank& rank : all)
        while (!rank.is_done() && rank.work().group.empty())
          rank.do_work(rank.now_us + rank.work().us);
    } while (meet(all));
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].add("user_annotation", fmt::format("ProfilerStep#{}", step), begins[i], all[i].now_us);
  }

  // One collective that all have come to; false when there is none.
  static bool meet(std::vector<Rank>& all) {
    for (const Rank& first : all) {
      if (first.is_done()) continue;
      const std::string group = first.work().group;
      int last_us = 0;
      bool are_here = true;
      for (const Rank& rank : all) {
        if (rank.waits_in(group))
          last_us = std::max(last_us, rank.now_us);
        else if (rank.comes_to(group))
          are_here = false;
      }
      if (!are_here) continue;
      const int end_us = last_us + first.work().us;
      for (Rank& rank : all)
        if (rank.waits_in(group))
          rank.do_work(end_us, fmt::format(R"("Process Group Name": "{}")", group));
      return true;
    }
    return false;
  }
};

}  // namespace traceloom
