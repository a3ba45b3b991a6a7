// A library for --mpi in whose N-th call a process is killed, for tests.
//
//   TRACELOOM_MPI_LIBRARY=libdying_transport.so TRACELOOM_TRUE_LIBRARY=libtraceloom_mpi.so
//   TRACELOOM_DIES=1:7 mpirun -n 3 trace-stats --mpi summarize run/
//
// Process 1 receives SIGKILL at the beginning of its seventh call, when the work between its sixth
// and its seventh call has been done. With TRACELOOM_STARVES in the place of TRACELOOM_DIES it
// throws std::bad_alloc there. Each process of a run that lives writes the names of its calls to
// the file TRACELOOM_CALLS.RANK: so many stages it has.
#include "team/team.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace traceloom {
namespace {

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

void* true_library() {
  static void* const library =
      dlopen(setting("TRACELOOM_TRUE_LIBRARY").c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  return library;
}

template <typename Function>
Function* true_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(true_library(), name));
}

class DyingTransport final : public Transport {
 public:
  DyingTransport() : true_(true_function<MakeTransport>(kMakeTransportSymbol)()) {
    const std::string dies = setting("TRACELOOM_DIES");
    const std::string process = std::to_string(rank()) + ":";
    if (dies.starts_with(process)) calls_left_ = std::stoul(dies.substr(process.size()));
    const std::string starves = setting("TRACELOOM_STARVES");
    if (starves.starts_with(process)) calls_fed_ = std::stoul(starves.substr(process.size()));
    if (dies.empty() && starves.empty())
      calls_.open(setting("TRACELOOM_CALLS") + "." + std::to_string(rank()));
  }
  ~DyingTransport() override { enter("end"); }

  std::size_t rank() const override { return true_->rank(); }
  std::size_t size() const override { return true_->size(); }

  void broadcast(std::string& bytes) override {
    enter("broadcast");
    true_->broadcast(bytes);
  }
  void send_to_first(std::string_view bytes) override {
    enter("send");
    true_->send_to_first(bytes);
  }
  std::string receive_from(std::size_t from) override {
    enter("receive");
    return true_->receive_from(from);
  }
  std::vector<std::string> exchange(std::vector<std::string> messages) override {
    enter("exchange");
    return true_->exchange(std::move(messages));
  }
  [[noreturn]] void abort() noexcept override {
    true_->abort();
    std::abort();
  }

 private:
  void enter(const char* call) {
    if (calls_.is_open()) calls_ << call << '\n' << std::flush;
    if (calls_left_ > 0 && --calls_left_ == 0) std::raise(SIGKILL);
    if (calls_fed_ > 0 && --calls_fed_ == 0) throw std::bad_alloc();
  }

  std::unique_ptr<Transport> true_;
  std::size_t calls_left_ = 0;  // 0: it lives
  std::size_t calls_fed_ = 0;   // 0: it has memory
  std::ofstream calls_;
};

}  // namespace
}  // namespace traceloom

extern "C" {

__attribute__((visibility("default"))) const char* traceloom_transport_version() {
  return traceloom::true_function<traceloom::TransportVersion>(
      traceloom::kTransportVersionSymbol)();
}

__attribute__((visibility("default"))) traceloom::Transport* traceloom_make_transport() {
  return new traceloom::DyingTransport();
}

}  // extern "C"
