#include "team/team.h"

#include "base/error.h"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace traceloom {
namespace {

// The first byte of a broadcast.
constexpr char kData = 'd';
constexpr char kEnd = 'e';  // the exit code follows

// Returns the message of the exception that is being handled, as the tools report it.
std::string words_of_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

Team::Team(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

std::string Team::broadcast(std::string bytes) {
  if (!transport_) return bytes;
  std::string message = is_first() ? kData + bytes : std::string();
  transport_->broadcast(message);
  if (is_first()) return bytes;
  if (message.at(0) == kEnd) {
    transport_.reset();
    throw TeamEnded{std::stoi(message.substr(1))};
  }
  message.erase(0, 1);
  return message;
}

void Team::gather(std::string bytes, const std::function<void(std::size_t, std::string)>& use) {
  if (!is_first()) return transport_->send_to_first(bytes);
  std::exception_ptr failure;
  const auto take = [&](std::size_t rank, std::string message) {
    try {
      if (!failure) use(rank, std::move(message));
    } catch (...) {
      failure = std::current_exception();
    }
  };
  take(0, std::move(bytes));
  for (std::size_t rank = 1; rank < size(); ++rank) take(rank, transport_->receive_from(rank));
  if (failure) std::rethrow_exception(failure);
}

std::vector<std::string> Team::exchange(std::vector<std::string> messages) {
  return transport_ ? transport_->exchange(std::move(messages)) : std::move(messages);
}

void Team::agree(const std::function<void()>& work) {
  if (!transport_) return work();
  std::exception_ptr own;
  std::string words;
  try {
    work();
  } catch (const TeamEnded&) {
    throw;
  } catch (const std::exception& error) {
    if (!lacks_resources(error)) own = std::current_exception();
    words = words_of_exception();
  }
  std::string first;
  gather(words, [&](std::size_t, const std::string& other) {
    if (first.empty()) first = other;
  });
  first = broadcast(first);
  if (first.empty()) return;
  if (own && first == words) std::rethrow_exception(own);
  throw UsageError(first);
}

int Team::end(int exit_code, const std::string& error) {
  if (!transport_) return exit_code;
  if (is_first()) {
    std::string message = kEnd + std::to_string(exit_code);
    transport_->broadcast(message);
  } else {
    try {
      broadcast({});
    } catch (const TeamEnded& ended) {
      return ended.exit_code;
    }
    // Process 0 goes on, and this one cannot.
    abort(error.empty() ? "left the team" : error);
  }
  transport_.reset();
  return exit_code;
}

void Team::abort(const std::string& error) {
  if (!is_first()) {
    const std::string line = "process " + std::to_string(rank()) + ": " + error + "\n";
    static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
  }
  if (transport_) transport_->abort();
  std::abort();
}

bool lacks_resources(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  return dynamic_cast<const std::system_error*>(&error) != nullptr &&
         dynamic_cast<const std::filesystem::filesystem_error*>(&error) == nullptr;
}

Team& team_or_alone(Team* team) {
  static Team alone;  // has no state
  return team != nullptr ? *team : alone;
}

}  // namespace traceloom
