#include "record/support/keep_forever.h"

#include <new>

namespace traceloom::record {
namespace {

struct Kept {
  const void* object;
  const Kept* next;
};

const Kept* last_kept = nullptr;

}  // namespace

void keep_forever(const void* object) noexcept {
  const Kept* const kept = new (std::nothrow) Kept{object, last_kept};
  if (kept != nullptr) last_kept = kept;
}

}  // namespace traceloom::record
