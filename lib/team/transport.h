// Transport: how the processes of a team exchange bytes. MPI is behind it, in a library of its own
// (tools/mpi), which is opened for --mpi only.
//
// All processes call the same functions in the same order. Messages may have any length. A lost
// process ends the others: there is no error to return.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

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

}  // namespace traceloom
