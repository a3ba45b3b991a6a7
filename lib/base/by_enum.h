// Enums as indices: their names, and one value for each of them.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <tuple>

namespace traceloom {

// Returns the name of an enumerator; the names stand in the order of the enum.
//
//   constexpr std::string_view to_string(Side side) { return name_in({"left", "right"}, side); }
template <typename Enum>
constexpr std::string_view name_in(std::initializer_list<std::string_view> names, Enum value) {
  return names.begin()[static_cast<std::size_t>(value)];
}

// ByEnum: one value for each value of an enum, whose last one is count_.
//
//   ByEnum<Role, std::int64_t> ns;
//   for (const Role role : kAllOf<Role>) ns[role] += 5;

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
