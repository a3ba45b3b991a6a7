#include "team/team.h"

#include "team/wire.h"

#include <cstdlib>
#include <filesystem>
#include <new>
#include <numeric>
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

namespace {

// Opening a file costs as much as reading so many bytes of text.
constexpr std::uint64_t kFileWeight = std::uint64_t{64} << 10;

std::uint64_t weight_of(const std::string& path) {
  std::error_code none;
  const std::uintmax_t bytes = std::filesystem::file_size(path, none);
  return kFileWeight + (none ? 0 : bytes);
}

}  // namespace

std::vector<FileBlock> cut_by_weight(const std::vector<std::uint64_t>& weights,
                                     std::size_t processes) {
  const std::uint64_t total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  std::vector<FileBlock> blocks;
  std::uint64_t before = 0;
  std::size_t file = 0;
  for (std::size_t i = 0; i < processes; ++i) {
    const std::size_t begin = file;
    // A file belongs to the process in whose share of the total its middle lies.
    const auto share_end =
        static_cast<double>(total) * static_cast<double>(i + 1) / static_cast<double>(processes);
    while (file < weights.size() &&
           (i + 1 == processes ||
            static_cast<double>(before) + static_cast<double>(weights[file]) / 2 < share_end))
      before += weights[file++];
    blocks.push_back({begin, file});
  }
  return blocks;
}

FileBlock share_out(Team& team, const std::vector<std::string>& paths) {
  if (team.is_alone()) return {0, paths.size()};
  std::vector<FileBlock> blocks;
  if (team.is_first()) {
    std::vector<std::uint64_t> weights;
    weights.reserve(paths.size());
    for (const std::string& path : paths) weights.push_back(weight_of(path));
    blocks = cut_by_weight(weights, team.size());
  }
  return broadcast(team, std::move(blocks)).at(team.rank());
}

}  // namespace traceloom
