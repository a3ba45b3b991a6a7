// members_of: the members of a struct as a tuple of references, so that nobody lists them twice.
//
//   struct Finding {
//     std::string name;
//     std::vector<std::int64_t> times;
//   };
//   auto [name, times] = members_of(finding);
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace traceloom {

namespace members_detail {

struct AnyValue {
  template <typename T>
  operator T() const;  // only declared: it stands for a value of any type
};

// Returns how many values T takes in braces: one for each member.
template <typename T, typename... Values>
constexpr std::size_t count_members() {
  if constexpr (requires { T{Values{}..., AnyValue{}}; })
    return count_members<T, Values..., AnyValue>();
  else
    return sizeof...(Values);
}
template <typename T>
inline constexpr std::size_t kMembers = count_members<std::remove_const_t<T>>();

}  // namespace members_detail

// Needs a struct with 1 to 14 members that are all its own and public, and no arrays of C.
template <typename T>
requires std::is_aggregate_v<T>
auto members_of(T& value) {
  using members_detail::kMembers;
  if constexpr (kMembers<T> == 1) {
    auto& [a] = value;
    return std::tie(a);
  } else if constexpr (kMembers<T> == 2) {
    auto& [a, b] = value;
    return std::tie(a, b);
  } else if constexpr (kMembers<T> == 3) {
    auto& [a, b, c] = value;
    return std::tie(a, b, c);
  } else if constexpr (kMembers<T> == 4) {
    auto& [a, b, c, d] = value;
    return std::tie(a, b, c, d);
  } else if constexpr (kMembers<T> == 5) {
    auto& [a, b, c, d, e] = value;
    return std::tie(a, b, c, d, e);
  } else if constexpr (kMembers<T> == 6) {
    auto& [a, b, c, d, e, f] = value;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (kMembers<T> == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (kMembers<T> == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (kMembers<T> == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = value;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (kMembers<T> == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (kMembers<T> == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (kMembers<T> == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (kMembers<T> == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (kMembers<T> == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  }
}

}  // namespace traceloom
