// Pickles for tests, put together from the opcodes of values.
//
//   std::string file = pickle(dict({{"segments", list({})}, {"device_traces", list({})}}));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// The `bytes` low bytes of a number, the lowest first.
inline std::string little_bytes(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

// A value as opcodes: integers as LONG1 of 9 bytes, texts as BINUNICODE.
struct PickleCode : std::string {
  explicit PickleCode(std::string opcodes) : std::string(std::move(opcodes)) {}
  PickleCode(const char* text)  // NOLINT(google-explicit-constructor)
      : std::string("X" + little_bytes(std::string_view(text).size(), 4) + text) {}
  PickleCode(std::int64_t number)  // NOLINT(google-explicit-constructor)
      : std::string("\x8a\x09" + little_bytes(static_cast<std::uint64_t>(number), 8) +
                    (number < 0 ? '\xff' : '\0')) {}
  PickleCode(int number)  // NOLINT(google-explicit-constructor)
      : PickleCode(static_cast<std::int64_t>(number)) {}
};

inline PickleCode list(const std::vector<PickleCode>& items) {
  std::string code = "](";
  for (const PickleCode& item : items) code += item;
  return PickleCode(code + 'e');
}

inline PickleCode dict(const std::vector<std::pair<PickleCode, PickleCode>>& members) {
  std::string code = "}(";
  for (const auto& [key, value] : members) code += key + value;
  return PickleCode(code + 'u');
}

inline std::string pickle(const PickleCode& value) {
  return "\x80\x04" + value + '.';
}

}  // namespace traceloom
