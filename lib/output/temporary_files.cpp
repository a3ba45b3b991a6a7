#include "output/temporary_files.h"

#include <climits>

#include <array>
#include <atomic>
#include <cerrno>
#include <unistd.h>

namespace traceloom {
namespace {

// A signal handler can interrupt any thread anywhere. So there are no locks and no memory from the
// heap, and only the code that has moved a slot out of `ready` reads its path.
enum class SlotState : int { free, changing, ready, removing, folder, removed };

struct Slot {
  std::atomic<SlotState> state = SlotState::free;
  std::array<char, PATH_MAX> path;
};
static_assert(std::atomic<SlotState>::is_always_lock_free);

constexpr int kNoSlot = -1;
constexpr int kSlots = 64;
constinit std::array<Slot, kSlots> slots{};

bool move(Slot& slot, SlotState from, SlotState to) {
  return slot.state.compare_exchange_strong(from, to);
}

int remember(const std::string& path) {
  if (path.size() >= PATH_MAX) return kNoSlot;
  for (int i = 0; i < kSlots; ++i) {
    Slot& slot = slots[static_cast<std::size_t>(i)];
    if (!move(slot, SlotState::free, SlotState::changing)) continue;
    slot.path[path.copy(slot.path.data(), path.size())] = '\0';
    slot.state = SlotState::ready;
    return i;
  }
  return kNoSlot;
}

}  // namespace

TemporaryFileEntry::TemporaryFileEntry(const std::string& path) noexcept : slot_(remember(path)) {}

TemporaryFileEntry::~TemporaryFileEntry() {
  if (slot_ == kNoSlot) return;
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  // A slot that a handler is reading at this moment stays taken; the process is about to end.
  if (!move(slot, SlotState::ready, SlotState::free))
    move(slot, SlotState::removed, SlotState::free);
}

void remove_temporary_files() noexcept {
  const int saved_errno = errno;  // it belongs to the interrupted code
  for (Slot& slot : slots) {
    if (!move(slot, SlotState::ready, SlotState::removing)) continue;
    const bool is_folder = unlink(slot.path.data()) != 0 && errno == EISDIR;
    slot.state = is_folder ? SlotState::folder : SlotState::removed;
  }
  // They are empty only now.
  for (Slot& slot : slots) {
    if (!move(slot, SlotState::folder, SlotState::removing)) continue;
    rmdir(slot.path.data());
    slot.state = SlotState::removed;
  }
  errno = saved_errno;
}

}  // namespace traceloom
