// Team: the processes that work on one run together. A tool alone is a team of one, so that there
// is one way through the code.
//
//   const FileBlock own = share_out(team, paths);                 // which files this process reads
//   team.agree([&] { scan_files(paths, visitor, {.files = own}); });
//   team.gather(encode(own_result), [&](std::size_t, std::string bytes) { add(decode(bytes)); });
//   if (!team.is_first()) return;                                 // process 0 has all results
//
// All processes call the functions of a team in the same order. Process 0 leads: each stage begins
// with a broadcast() of its own or with work that all of them do, and its end() ends the others
// wherever they wait for it. So an exception between two stages on process 0 ends all of them.
#pragma once

#include "team/transport.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace traceloom {

// Thrown on the other processes when process 0 has ended.
struct TeamEnded {
  int exit_code = 0;
};

class Team {
 public:
  // A team of one.
  Team() = default;
  explicit Team(std::unique_ptr<Transport> transport);

  std::size_t rank() const { return transport_ ? transport_->rank() : 0; }
  std::size_t size() const { return transport_ ? transport_->size() : 1; }
  bool is_alone() const { return size() == 1; }
  bool is_first() const { return rank() == 0; }

  // Returns the bytes of process 0 on all processes. Throws TeamEnded if process 0 has ended.
  std::string broadcast(std::string bytes);

  // Calls use(rank, bytes) on process 0 for the bytes of each process, in the order of their ranks.
  // Only one message of the others is in memory at a time. If use() throws, the remaining messages
  // are received and dropped first, so that nobody waits.
  void gather(std::string bytes, const std::function<void(std::size_t, std::string)>& use);

  // Sends messages[i] to process i, and returns the messages to this process by their senders.
  std::vector<std::string> exchange(std::vector<std::string> messages);

  // Calls work() on all processes. If it throws on some of them, all throw what the process of the
  // lowest rank threw: since files are shared out in order, that is the error which one process
  // alone would report.
  void agree(const std::function<void()>& work);

  // Ends the team with the exit code of process 0, which it returns. A process that has an `error`
  // of its own, for which the others do not wait, ends all of them by abort().
  int end(int exit_code, const std::string& error = {});

 private:
  std::unique_ptr<Transport> transport_;
};

// Returns the team of a request; nullptr stands for this process alone.
Team& team_or_alone(Team* team);

}  // namespace traceloom
