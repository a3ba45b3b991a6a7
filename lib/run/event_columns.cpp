#include "run/event_columns.h"

namespace traceloom {

std::uint32_t Labels::intern(std::string_view name, std::string_view category) {
  const std::uint32_t name_number = texts_.intern(name);
  const std::uint32_t category_number = texts_.intern(category);
  const std::uint32_t label = pairs_.intern(NumberPair(name_number, category_number).bytes());
  if (label == entries_.size())
    entries_.push_back({name_number, category_number, classify(name, category)});
  return label;
}

std::uint32_t Labels::intern(std::string_view name, std::string_view category,
                             const EventClass& kind) {
  if (kind == classify(name, category)) return intern(name, category);
  const std::uint32_t name_number = texts_.intern(name);
  const std::uint32_t category_number = texts_.intern(category);
  // This key has another length than the key of an ordinary label.
  std::string key(NumberPair(name_number, category_number).bytes());
  for (const int part : {static_cast<int>(kind.place), static_cast<int>(kind.role),
                         static_cast<int>(kind.mark), kind.is_program ? 1 : 0})
    key += static_cast<char>(part);
  const std::uint32_t label = pairs_.intern(key);
  if (label == entries_.size()) entries_.push_back({name_number, category_number, kind});
  return label;
}

std::uint32_t Tracks::intern(std::size_t file, std::string_view pid, std::string_view tid) {
  const std::uint32_t pid_number = texts_.intern(pid);
  const std::uint32_t tid_number = texts_.intern(tid);
  const std::string key =
      std::to_string(file) + ' ' + std::to_string(pid_number) + ' ' + std::to_string(tid_number);
  const std::uint32_t track = keys_.intern(key);
  if (track == entries_.size()) entries_.push_back({file, pid_number, tid_number});
  return track;
}

}  // namespace traceloom
