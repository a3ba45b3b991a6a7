// run_as_team: runs a function on the processes of a team that are threads of this program.
//
//   run_as_team(3, [&](Team& team) {
//     team.gather("a", [](std::size_t rank, std::string bytes) { ... });
//   });
//
// The first exception of the lowest process is thrown again, TeamEnded excepted.
#pragma once

#include "team/team.h"

#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace traceloom {

// The messages between the threads: a queue for each pair of sender and receiver.
class Mailboxes {
 public:
  explicit Mailboxes(std::size_t processes) : processes_(processes) {}

  std::size_t processes() const { return processes_; }
  void send(std::size_t from, std::size_t to, std::string bytes) {
    const std::lock_guard lock(mutex_);
    queues_[{from, to}].push_back(std::move(bytes));
    changed_.notify_all();
  }
  std::string receive(std::size_t from, std::size_t to) {
    std::unique_lock lock(mutex_);
    std::deque<std::string>& queue = queues_[{from, to}];
    changed_.wait(lock, [&] { return !queue.empty(); });
    std::string bytes = std::move(queue.front());
    queue.pop_front();
    return bytes;
  }

 private:
  std::size_t processes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<std::string>> queues_;
};

class ThreadTransport final : public Transport {
 public:
  // `mailboxes` must outlive it.
  ThreadTransport(std::size_t rank, Mailboxes& mailboxes) : rank_(rank), mailboxes_(mailboxes) {}

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return mailboxes_.processes(); }
  void broadcast(std::string& bytes) override {
    if (rank_ > 0) {
      bytes = mailboxes_.receive(0, rank_);
    } else {
      for (std::size_t to = 1; to < size(); ++to) mailboxes_.send(0, to, bytes);
    }
  }
  void send_to_first(std::string_view bytes) override {
    mailboxes_.send(rank_, 0, std::string(bytes));
  }
  std::string receive_from(std::size_t rank) override { return mailboxes_.receive(rank, 0); }
  std::vector<std::string> exchange(std::vector<std::string> messages) override {
    for (std::size_t to = 0; to < size(); ++to) mailboxes_.send(rank_, to, std::move(messages[to]));
    std::vector<std::string> received;
    for (std::size_t from = 0; from < size(); ++from)
      received.push_back(mailboxes_.receive(from, rank_));
    return received;
  }
  [[noreturn]] void abort() noexcept override { std::abort(); }

 private:
  std::size_t rank_;
  Mailboxes& mailboxes_;
};

inline void run_as_team(std::size_t processes, const std::function<void(Team&)>& work) {
  Mailboxes mailboxes(processes);
  std::vector<std::exception_ptr> failures(processes);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < processes; ++rank)
    threads.emplace_back([&, rank] {
      Team team(std::make_unique<ThreadTransport>(rank, mailboxes));
      try {
        work(team);
      } catch (const TeamEnded&) {
        return;
      } catch (...) {
        failures[rank] = std::current_exception();
      }
      team.end(0);
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace traceloom
