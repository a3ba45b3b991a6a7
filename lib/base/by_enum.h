// ByEnum: one value for each value of an enum, whose last one is count_.
//
//   ByEnum<Role, std::int64_t> ns;
//   for (const Role role : kAllOf<Role>) ns[role] += 5;
#pragma once

#include <array>
#include <cstddef>
#include <tuple>

namespace traceloom {

template <typename Enum>
inline constexpr std::array kAllOf = [] {
  std::array<Enum, static_cast<std::size_t>(Enum::count_)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Enum>(i);
  return all;
}();

template <typename Enum, typename Value>
class ByEnum {
 public:
  Value& operator[](Enum key) { return values_[static_cast<std::size_t>(key)]; }
  const Value& operator[](Enum key) const { return values_[static_cast<std::size_t>(key)]; }

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(values_); }

 private:
  std::array<Value, kAllOf<Enum>.size()> values_{};
};

}  // namespace traceloom
