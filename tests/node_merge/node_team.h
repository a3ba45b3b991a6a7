// NodeTeam: the ranks of a node, each in a process of its own.
//
//   NodeTeam team(3);
//   const std::vector<int> codes = team.run([&](int rank) { ...; team.meet(); });
//
// All are forked before any of them, or this process, has a thread: sanitizers and TBB want it so.
#pragma once

#include "support/child_process.h"

#include <array>
#include <atomic>
#include <new>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace traceloom {

class NodeTeam {
 public:
  explicit NodeTeam(int ranks)
      : ranks_(ranks),
        memory_(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0)) {
    REQUIRE(memory_ != MAP_FAILED);
    new (memory_) Shared;
  }
  ~NodeTeam() { munmap(memory_, sizeof(Shared)); }
  NodeTeam(const NodeTeam&) = delete;
  NodeTeam& operator=(const NodeTeam&) = delete;

  // Returns how each has ended, as waitpid() reports it.
  template <typename Work>
  std::vector<int> run(const Work& work) {
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks_; ++rank) children.push_back(start_child([&] { work(rank); }));
    std::vector<int> codes;
    codes.reserve(children.size());
    for (const pid_t child : children) codes.push_back(wait_for(child));
    return codes;
  }

  // Returns when all ranks have called it.
  void meet() {
    const int round = (shared().entered.fetch_add(1) / ranks_ + 1) * ranks_;
    while (shared().entered.load() < round) std::this_thread::yield();
  }
  // These let one rank wait for another that goes on.
  void say(std::size_t what) { shared().said.at(what) = true; }
  void wait(std::size_t what) {
    while (!shared().said.at(what)) std::this_thread::yield();
  }

 private:
  struct Shared {
    std::atomic<int> entered{0};
    std::array<std::atomic<bool>, 4> said{};
  };
  Shared& shared() const { return *static_cast<Shared*>(memory_); }

  int ranks_;
  void* memory_;
};

}  // namespace traceloom
