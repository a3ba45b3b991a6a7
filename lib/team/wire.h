// Wire: values as bytes, for other processes of the same program on machines of the same kind.
//
//   struct Finding {
//     std::string name;
//     std::vector<std::int64_t> times;
//   };
//   const std::string bytes = to_wire(finding);
//   const Finding same = from_wire<Finding>(bytes);
//
// A struct whose members are all its own and public needs nothing (members_of). Any other class
// lists them in wired(), which serves both directions: auto wired() { return std::tie(a_, b_); }.
// One that needs more than its members has a template wire(Wire&), which calls the Wire with
// values. Numbers, enums and other trivially copyable values are copied as they are in memory, so
// such a class must hold no pointers. It is no format for files.
#pragma once

#include "base/problems.h"
#include "team/team.h"

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace traceloom {

// members_of: the members of a struct as a tuple of references, so that nobody lists them twice.
//
//   struct Finding {
//     std::string name;
//     std::vector<std::int64_t> times;
//   };
//   auto [name, times] = members_of(finding);

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

namespace wire_detail {

struct AnyWire {
  static constexpr bool kReads = false;
  template <typename... T>
  void operator()(T&...) {}
};
template <typename T>
concept HasWired = requires(T& value) {
  value.wired();
};
template <typename T>
concept HasWire = requires(T& value, AnyWire& wire) {
  value.wire(wire);
};
template <typename T>
concept IsClass = HasWired<T> || HasWire<T>;
template <typename T>
concept Raw = !IsClass<T> && std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
              !std::is_same_v<T, std::string_view>;
// A pair, a tuple or an array.
template <typename T>
concept Tuple = !Raw<T> && !IsClass<T> && requires {
  std::tuple_size<T>::value;
};

template <typename T>
concept Container = !IsClass<T> && requires(T values, typename T::value_type value) {
  values.insert(values.end(), value);
};
// A struct that members_of() takes apart.
template <typename T>
concept Struct = !Raw<T> && !IsClass<T> && !Tuple<T> && std::is_aggregate_v<T>;
template <typename T>
inline constexpr bool kIsRawVector = false;
template <Raw T>
inline constexpr bool kIsRawVector<std::vector<T>> = true;

}  // namespace wire_detail

class WireWriter {
 public:
  static constexpr bool kReads = false;

  template <typename... T>
  void operator()(const T&... values) {
    (write(values), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  void copy(const void* from, std::size_t size) {
    bytes_.append(static_cast<const char*>(from), size);
  }
  // A writer changes nothing through these functions, which are not const for the reader's sake.
  template <wire_detail::HasWire T>
  void write(const T& value) {
    const_cast<T&>(value).wire(*this);
  }
  template <wire_detail::HasWired T>
  void write(const T& value) {
    std::apply(*this, const_cast<T&>(value).wired());
  }
  template <wire_detail::Raw T>
  void write(const T& value) {
    copy(&value, sizeof value);
  }
  void write(const std::string& text) {
    write(text.size());
    copy(text.data(), text.size());
  }
  template <wire_detail::Container T>
  void write(const T& values) {
    write(values.size());
    if constexpr (wire_detail::kIsRawVector<T>)
      copy(values.data(), values.size() * sizeof(typename T::value_type));
    else if constexpr (requires { typename T::mapped_type; })
      // Whether a pair with a constant key is trivially copyable depends on the compiler.
      for (const auto& [key, value] : values) (*this)(key, value);
    else
      for (const auto& value : values) write(value);
  }
  template <typename T>
  requires(!wire_detail::Raw<std::optional<T>>) void write(const std::optional<T>& value) {
    write(value.has_value());
    if (value) write(*value);
  }
  template <wire_detail::Tuple T>
  void write(const T& values) {
    std::apply(*this, values);
  }
  template <wire_detail::Struct T>
  void write(const T& value) {
    std::apply(*this, members_of(value));
  }

  std::string bytes_;
};

// Throws Error for bytes that end too early.
class WireReader {
 public:
  static constexpr bool kReads = true;

  // `bytes` must outlive the reader.
  explicit WireReader(std::string_view bytes) : left_(bytes) {}

  template <typename... T>
  void operator()(T&... values) {
    (read(values), ...);
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view take(std::size_t size) {
    if (size > left_.size()) throw Error("a message of another process", "it is cut");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  std::size_t read_size() {
    std::size_t size = 0;
    read(size);
    return size;
  }
  template <wire_detail::HasWire T>
  void read(T& value) {
    value.wire(*this);
  }
  template <wire_detail::HasWired T>
  void read(T& value) {
    std::apply(*this, value.wired());
  }
  template <wire_detail::Raw T>
  void read(T& value) {
    std::memcpy(static_cast<void*>(&value), take(sizeof value).data(), sizeof value);
  }
  void read(std::string& text) { text = take(read_size()); }
  template <wire_detail::Container T>
  void read(T& values) {
    const std::size_t size = read_size();
    values.clear();
    if constexpr (wire_detail::kIsRawVector<T>) return read_raw(values, size);
    for (std::size_t left = size; left > 0; --left) {
      if constexpr (requires { values.emplace_back(); }) {
        read(values.emplace_back());
      } else if constexpr (requires { typename T::mapped_type; }) {
        typename T::key_type key{};
        read(key);
        read(values[std::move(key)]);
      } else {
        typename T::value_type value{};
        read(value);
        values.insert(values.end(), std::move(value));
      }
    }
  }
  template <typename T>
  void read_raw(std::vector<T>& values, std::size_t size) {
    if (size > left_.size() / sizeof(T)) throw Error("a message of another process", "it is cut");
    values.resize(size);
    if (size > 0)
      std::memcpy(static_cast<void*>(values.data()), take(size * sizeof(T)).data(),
                  size * sizeof(T));
  }
  template <typename T>
  requires(!wire_detail::Raw<std::optional<T>>) void read(std::optional<T>& value) {
    bool has_value = false;
    read(has_value);
    value.reset();
    if (has_value) read(value.emplace());
  }
  template <wire_detail::Tuple T>
  void read(T& values) {
    std::apply(*this, values);
  }
  template <wire_detail::Struct T>
  void read(T& value) {
    std::apply(*this, members_of(value));
  }

  std::string_view left_;
};

template <typename T>
std::string to_wire(const T& value) {
  WireWriter writer;
  writer(value);
  return writer.take();
}

template <typename T>
T from_wire(std::string_view bytes) {
  WireReader reader(bytes);
  T value{};
  reader(value);
  return value;
}

// Returns the value of process 0 on all processes.
template <typename T>
T broadcast(Team& team, T value) {
  if (team.is_alone()) return value;
  const std::string bytes = team.broadcast(team.is_first() ? to_wire(value) : std::string());
  return team.is_first() ? value : from_wire<T>(bytes);
}

// Returns the values of all processes, by rank, on all processes.
template <typename T>
std::vector<T> share(Team& team, T own) {
  std::vector<T> values;
  if (team.is_alone()) {
    values.push_back(std::move(own));
    return values;
  }
  std::vector<std::string> messages(team.size());
  team.gather(to_wire(own),
              [&](std::size_t rank, std::string bytes) { messages[rank] = std::move(bytes); });
  messages = broadcast(team, std::move(messages));
  values.resize(messages.size());
  values[team.rank()] = std::move(own);
  for (std::size_t rank = 0; rank < messages.size(); ++rank) {
    if (rank != team.rank()) values[rank] = from_wire<T>(messages[rank]);
    messages[rank] = {};
  }
  return values;
}

}  // namespace traceloom
