// The processes that work on one run: how they exchange bytes, and which of them reads which
// files.
#pragma once

#include "base/problems.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Transport: how the processes of a team exchange bytes. MPI is behind it, in a library of its own
// (tools/mpi), which is opened for --mpi only.
//
// All processes call the same functions in the same order. Messages may have any length. A lost
// process ends the others: there is no error to return.

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  // Ends the connection; all processes do that together.
  virtual ~Transport() = default;

  virtual std::size_t rank() const = 0;  // number of this process, from 0
  virtual std::size_t size() const = 0;  // number of processes

  // Replaces `bytes` by those of process 0.
  virtual void broadcast(std::string& bytes) = 0;
  // Each process but 0 sends one message, and process 0 receives one of each.
  virtual void send_to_first(std::string_view bytes) = 0;
  virtual std::string receive_from(std::size_t rank) = 0;
  // Sends messages[i] to process i, and returns what each process sent to this one.
  virtual std::vector<std::string> exchange(std::vector<std::string> messages) = 0;

  // Ends all processes at once.
  [[noreturn]] virtual void abort() noexcept = 0;
};

// What the library with MPI exports, as extern "C" functions of these names and types.
inline constexpr char kTransportVersionSymbol[] = "traceloom_transport_version";
inline constexpr char kMakeTransportSymbol[] = "traceloom_make_transport";
using TransportVersion = const char*();  // version of Traceloom for which it was built
using MakeTransport = Transport*();      // the caller deletes it

// Team: the processes that work on one run together. A tool alone is a team of one, so that there
// is one way through the code.
//
//   const FileBlock own = share_out(team, paths);                 // which files this process reads
//   team.agree([&] { scan_files(paths, visitor, {.files = own}); });
//   team.gather(encode(own_result), [&](std::size_t, std::string bytes) { add(decode(bytes)); });
//   if (!team.is_first()) return;                                 // process 0 has all results
//
// All processes call the functions of a team in the same order. Process 0 leads: its end() ends the
// others where they wait for its broadcast, and after agree() they do. An exception that all
// processes throw alike, or process 0 before all of them agree, ends all in order. One that a
// process has for itself outside of agree(), since it lacks memory or threads, ends all by abort():
// the others may wait for a message that never comes.

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
  // alone would report. What lacks_resources() is thrown as a UsageError with the same words.
  void agree(const std::function<void()>& work);

  // Ends the team with the exit code of process 0, which it returns. A process that has an `error`
  // while process 0 goes on ends all of them by abort().
  int end(int exit_code, const std::string& error = {});

  // Ends all processes at once. Every one but process 0, whose tool says it, writes the error to
  // stderr.
  [[noreturn]] void abort(const std::string& error);

 private:
  std::unique_ptr<Transport> transport_;
};

// True for an exception of one process alone: it has no memory or no thread left.
bool lacks_resources(const std::exception& error);

// Returns the team of a request; nullptr stands for this process alone.
Team& team_or_alone(Team* team);

// share_out: which files each process of a team reads.
//
//   const FileBlock own = share_out(team, {"rank0.json", "rank1.json", "rank2.json"});
//   for (std::size_t file = own.begin; file < own.end; ++file) ...

// Cuts a list into `processes` pieces of about the same weight; some may be empty. Each process has
// one piece of the list, so that results put together in the order of the processes are in the
// order of the files.
std::vector<FileBlock> cut_by_weight(const std::vector<std::uint64_t>& weights,
                                     std::size_t processes);

// Returns the block of this process. Process 0 weighs the files by their sizes; all of them call
// it. A file without a size weighs little.
FileBlock share_out(Team& team, const std::vector<std::string>& paths);

}  // namespace traceloom
