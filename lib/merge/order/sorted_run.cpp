#include "merge/order/sorted_run.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace traceloom {

bool is_earlier(const PlacedEvent& a, const PlacedEvent& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.order != b.order) return a.order < b.order;
  if (a.duration_ns != b.duration_ns) return a.duration_ns > b.duration_ns;
  if (a.order != OrderClass::slice) return false;
  return std::tie(a.group, a.source_at) < std::tie(b.group, b.source_at);
}

void SortedRun::add(const PlacedEvent& event, std::string_view text) {
  char head[sizeof event];
  std::memcpy(head, &event, sizeof event);
  buffer_.append(head, sizeof head);
  buffer_.append(text);
  if (buffer_.size() >= kBufferBytes) flush();
}

void SortedRun::flush() {
  file_->write(buffer_);
  buffer_.clear();
}

bool SortedRun::next() {
  if (!is_reading_) flush();
  is_reading_ = true;
  if (read_ == file_->size() && buffer_at_ == buffer_.size()) return false;
  std::memcpy(&event_, take(sizeof event_).data(), sizeof event_);
  text_ = take(event_.size);
  return true;
}

std::string_view SortedRun::take(std::size_t size) {
  if (buffer_.size() - buffer_at_ < size) {
    buffer_.erase(0, buffer_at_);
    buffer_at_ = 0;
    const std::size_t kept = buffer_.size();
    const std::size_t more = static_cast<std::size_t>(
        std::min<std::uint64_t>(std::max(size, kBufferBytes) - kept, file_->size() - read_));
    buffer_.resize(kept + more);
    file_->read(read_, buffer_.data() + kept, more);
    read_ += more;
  }
  buffer_at_ += size;
  return std::string_view(buffer_).substr(buffer_at_ - size, size);
}

}  // namespace traceloom
