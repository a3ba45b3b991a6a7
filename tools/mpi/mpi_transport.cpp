// The transport of a team over MPI: the only file that is compiled against an MPI, so that a site
// can rebuild it alone for its own. It uses MPI 3.1 and the funneled level of threads.
#include "team/team.h"

#include <algorithm>
#include <cstdint>
#include <mpi.h>

namespace traceloom {
namespace {

// Counts of MPI 3.1 are ints.
constexpr std::size_t kMostBytesAtOnce = std::size_t{1} << 30;
constexpr int kTag = 0;

int as_int(std::size_t value) {
  return static_cast<int>(value);
}

// Calls part(offset, size) for the pieces of a message.
template <typename Part>
void for_each_part(std::size_t bytes, Part part) {
  for (std::size_t at = 0; at < bytes; at += kMostBytesAtOnce)
    part(at, as_int(std::min(kMostBytesAtOnce, bytes - at)));
}

class MpiTransport final : public Transport {
 public:
  MpiTransport() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiTransport() override { MPI_Finalize(); }

  std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  std::size_t size() const override { return static_cast<std::size_t>(size_); }

  void broadcast(std::string& bytes) override {
    std::uint64_t size = bytes.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    bytes.resize(size);
    for_each_part(size, [&](std::size_t at, int part) {
      MPI_Bcast(bytes.data() + at, part, MPI_BYTE, 0, MPI_COMM_WORLD);
    });
  }

  void send_to_first(std::string_view bytes) override {
    const std::uint64_t size = bytes.size();
    MPI_Send(&size, 1, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD);
    for_each_part(size, [&](std::size_t at, int part) {
      MPI_Send(bytes.data() + at, part, MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
    });
  }

  std::string receive_from(std::size_t rank) override {
    std::uint64_t size = 0;
    MPI_Recv(&size, 1, MPI_UINT64_T, as_int(rank), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::string bytes(size, '\0');
    for_each_part(size, [&](std::size_t at, int part) {
      MPI_Recv(bytes.data() + at, part, MPI_BYTE, as_int(rank), kTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    });
    return bytes;
  }

  // In round k each process sends to the k-th after it and receives from the k-th before it, so
  // that every process has one partner in each direction at a time.
  std::vector<std::string> exchange(std::vector<std::string> messages) override {
    std::vector<std::string> received(size());
    received[rank()] = std::move(messages[rank()]);
    for (std::size_t round = 1; round < size(); ++round) {
      const std::size_t to = (rank() + round) % size();
      const std::size_t from = (rank() + size() - round) % size();
      received[from] = swap(messages[to], to, from);
      messages[to] = {};
    }
    return received;
  }

  [[noreturn]] void abort() noexcept override {
    constexpr int kTrouble = 2;
    MPI_Abort(MPI_COMM_WORLD, kTrouble);
    std::abort();
  }

 private:
  static std::string swap(const std::string& message, std::size_t to, std::size_t from) {
    const std::uint64_t size = message.size();
    std::uint64_t other_size = 0;
    MPI_Sendrecv(&size, 1, MPI_UINT64_T, as_int(to), kTag, &other_size, 1, MPI_UINT64_T,
                 as_int(from), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::vector<MPI_Request> requests;
    for_each_part(size, [&](std::size_t at, int part) {
      MPI_Isend(message.data() + at, part, MPI_BYTE, as_int(to), kTag, MPI_COMM_WORLD,
                &requests.emplace_back());
    });
    std::string other(other_size, '\0');
    for_each_part(other_size, [&](std::size_t at, int part) {
      MPI_Recv(other.data() + at, part, MPI_BYTE, as_int(from), kTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    });
    MPI_Waitall(as_int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return other;
  }

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace
}  // namespace traceloom

extern "C" {

__attribute__((visibility("default"))) const char* traceloom_transport_version() {
  return TRACELOOM_VERSION;
}

__attribute__((visibility("default"))) traceloom::Transport* traceloom_make_transport() {
  return new traceloom::MpiTransport();
}

}  // extern "C"
