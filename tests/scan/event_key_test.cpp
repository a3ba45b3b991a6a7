#include "scan/event_key.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace traceloom;

namespace {

Key brute_force(std::string_view name) {
  for (std::size_t i = 0; i < kKeyCount; ++i)
    if (key_name(static_cast<Key>(i)) == name) return static_cast<Key>(i);
  return Key::count_;
}

Key find(const std::string& name) {
  const Key packed = kEventKeys.find(EventKeyTable::pack(name), name.size());
  const std::string padded = name + "\",:{}[]~~";  // load() reads eight bytes
  CHECK(kEventKeys.find(EventKeyTable::load(padded.data(), name.size()), name.size()) == packed);
  return packed;
}

}  // namespace

TEST_CASE("event_key: finds every key and nothing but the keys") {
  for (std::size_t i = 0; i < kKeyCount; ++i) {
    const std::string name(key_name(static_cast<Key>(i)));
    CHECK(find(name) == static_cast<Key>(i));
    CHECK(find(name.substr(0, name.size() - 1)) == brute_force(name.substr(0, name.size() - 1)));
    CHECK(find(name + "x") == Key::count_);
    if (name.size() < 8) CHECK(find(name + std::string(1, '\0')) == Key::count_);
    CHECK(find("x" + name) == Key::count_);
  }
  for (const char* other : {"", "Ph", "PH", "ttss", "tdu", "bp", "fs", "stack", "cnames",
                            "argsargs", "bind_idx", "id2 ", " ts"}) {
    CAPTURE(other);
    CHECK(find(other) == Key::count_);
  }
}

TEST_CASE("event_key: agrees with a comparison of all names for random ones") {
  std::mt19937_64 random(1);
  static constexpr std::string_view kLetters = "namectphsdurigop2_b";
  for (int i = 0; i < 20'000; ++i) {
    std::string name;
    for (std::size_t size = random() % 9; name.size() < size;)
      name += kLetters[random() % kLetters.size()];
    REQUIRE(find(name) == brute_force(name));
  }
}
