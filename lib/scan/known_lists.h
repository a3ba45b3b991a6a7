// KnownLists: finds the end of a list that was met before.
//
//   const char* behind = lists.find(at, end);
//   if (behind == nullptr && (behind = skip_strict_value(at, end)) != nullptr)
//     lists.learn(at, behind, end);
//
// The lists in args ("Input Dims", "Input type", grids) are few and repeat: a torch trace of 60 MB
// has 400, and nine in ten are among the last 512. Comparing them takes a tenth of the time of
// reading them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace traceloom {

// A known value can be recognised wherever it stands: brackets end it, whatever text follows. Not
// thread-safe. It takes 150 KiB of memory.
class KnownLists {
 public:
  static constexpr std::ptrdiff_t kRoom = 128;

  // Returns the position after the list or object that begins at `at` if it is known. Returns
  // nullptr if it is not, or if fewer than kRoom bytes are left.
  const char* find(const char* at, const char* end) {
    if (sets_.empty() || end - at < kRoom) return nullptr;
    Set& set = sets_[set_of(at)];
    for (std::size_t i = 0; i < kWays; ++i) {
      const std::uint8_t way = set.order[i];
      if (!set.tails[way].stands_in(at) || !set.texts[way].stands_at(at)) continue;
      if (i > 0) set.move_to_front(i);
      return at + set.texts[way].size;
    }
    return nullptr;
  }

  // Stores the list [at, behind), if it is short, in place of the one that was not met for the
  // longest time. Call it for lists that find() does not know. Like find(), it needs kRoom bytes.
  void learn(const char* at, const char* behind, const char* end) {
    if (behind - at > kRoom || end - at < kRoom) return;
    if (sets_.empty()) sets_.resize(std::size_t{1} << kSetBits);
    Set& set = sets_[set_of(at)];
    set.move_to_front(kWays - 1);
    const auto size = static_cast<std::uint32_t>(behind - at);
    set.tails[set.order.front()] = Tail::of(at, size);
    set.texts[set.order.front()] = Text::of(at, size);
  }

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kSetBits = 7;

  static std::uint64_t word_at(const char* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
  }

  // The last 8 bytes of a list, or all of a shorter one. Lists that begin alike mostly have
  // different lengths, so this comparison alone rejects most of the others.
  struct Tail {
    std::uint64_t bytes = 1;  // matches nothing: no word masked by 0 equals 1
    std::uint64_t mask = 0;
    std::uint32_t at = 0;

    static Tail of(const char* list, std::uint32_t size) {
      Tail tail;
      tail.at = size > 8 ? size - 8 : 0;
      std::array<char, 8> mask{};
      std::memset(mask.data(), 0xff, size - tail.at);
      tail.mask = word_at(mask.data());
      tail.bytes = word_at(list + tail.at) & tail.mask;
      return tail;
    }
    bool stands_in(const char* list) const { return (word_at(list + at) & mask) == bytes; }
  };

  struct alignas(16) Text {
    std::array<char, kRoom> bytes{};
    std::array<char, kRoom> mask{};  // 0xff for each byte of the list, 0 after it
    std::uint32_t size = 0;

    static Text of(const char* list, std::uint32_t size) {
      Text text;
      text.size = size;
      std::memcpy(text.bytes.data(), list, size);
      std::memset(text.mask.data(), 0xff, size);
      return text;
    }
    bool stands_at(const char* list) const {
#if defined(__SSE2__)
      const auto load = [](const char* from) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
      };
      // Returns the bits that differ from those of the list in the 16 bytes from `from` on.
      const auto differing = [&](std::size_t from) {
        return _mm_and_si128(_mm_xor_si128(load(&bytes[from]), load(list + from)),
                             load(&mask[from]));
      };
      const auto is_same = [&](std::size_t from) {
        const __m128i all = _mm_or_si128(_mm_or_si128(differing(from), differing(from + 16)),
                                         _mm_or_si128(differing(from + 32), differing(from + 48)));
        return _mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_setzero_si128())) == 0xffff;
      };
      return is_same(0) && (size <= 64 || is_same(64));
#else
      return std::memcmp(bytes.data(), list, size) == 0;
#endif
    }
  };

  // A set of lists that begin alike: many lists differ only in their last members.
  struct Set {
    std::array<std::uint8_t, kWays> order{0, 1, 2, 3};  // numbers of the lists, the last met first
    std::array<Tail, kWays> tails;
    std::array<Text, kWays> texts;

    void move_to_front(std::size_t place) {
      const std::uint8_t way = order[place];
      for (; place > 0; --place) order[place] = order[place - 1];
      order.front() = way;
    }
  };

  // Chooses the set by the first 24 bytes. The text after a shorter list is nearly always the same,
  // too.
  static std::size_t set_of(const char* at) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    const std::uint64_t mixed =
        ((word_at(at) * kOdd ^ word_at(at + 8)) * kOdd ^ std::rotl(word_at(at + 16), 32)) * kOdd;
    return static_cast<std::size_t>(mixed >> (64 - kSetBits));
  }

  std::vector<Set> sets_;  // empty until the first list is learnt: many readers never meet one
};

}  // namespace traceloom
