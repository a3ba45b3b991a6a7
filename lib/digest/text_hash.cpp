#include "digest/text_hash.h"

#define XXH_INLINE_ALL  // xxHash needs this macro to be used without its library
#include <xxhash.h>

namespace traceloom::digest {

struct TextHash::State {
  XXH3_state_t state;
};

TextHash::TextHash() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->state);
}

TextHash::~TextHash() = default;

void TextHash::add(std::string_view text) {
  XXH3_64bits_update(&state_->state, text.data(), text.size());
}

std::uint64_t TextHash::value() const {
  return XXH3_64bits_digest(&state_->state);
}

}  // namespace traceloom::digest
