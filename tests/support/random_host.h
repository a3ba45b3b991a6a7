// A trace of random spans on a few threads of a host, with calls that give work to a device: for
// comparing trees and tables with the oracle. A seed always gives the same text.
#pragma once

#include "support/trace_text.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

class RandomHost {
 public:
  explicit RandomHost(std::uint32_t seed) : random_(seed) {}

  std::string text() {
    for (int i = number(0, 45); i > 0; --i) add_span();
    // Work whose launch was not recorded; some of it names its operator.
    trace_.cat("kernel").tid("99");
    for (int i = number(0, 3); i > 0; --i)
      trace_.x("lost", number(0, 200), number(0, 9), external(number(1, 40)));
    return trace_.array();
  }

 private:
  int number(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }

  static std::string external(int id) { return "{\"External id\": " + std::to_string(id) + "}"; }

  // Mostly within an earlier span, as real ones are; now and then anywhere.
  std::pair<int, int> place() {
    int from = number(0, 150);
    int to = from + number(0, 60);
    if (!spans_.empty() && number(0, 5) > 0) {
      const auto& [outer_from, outer_to] =
          spans_[static_cast<std::size_t>(number(0, static_cast<int>(spans_.size()) - 1))];
      from = number(outer_from, outer_to);
      to = number(from, outer_to);
    }
    spans_.emplace_back(from, to);
    return {from, to};
  }

  void add_span() {
    static const std::vector<std::pair<const char*, const char*>> kKinds{
        {"python_function", "f.py(1): f"},
        {"python_function", "nn.Module: M_0"},
        {"user_annotation", "forward"},
        {"cpu_op", "aten::mm"},
        {"cpu_op", "aten::mm"},
        {"cpu_op", "aten::linear"},
        {"cuda_runtime", "launch"},
        {"cuda_runtime", "launch"}};
    const auto& [category, name] = kKinds[static_cast<std::size_t>(number(0, 7))];
    const auto [from, to] = place();
    trace_.cat(category).tid(std::to_string(number(1, 2)));
    if (std::string(category) == "cpu_op") {
      trace_.x(name, from, to - from, external(++operators_));
    } else if (std::string(category) == "cuda_runtime") {
      add_call(name, from, to);
    } else {
      trace_.x(name, from, to - from);
    }
  }

  void add_call(const char* name, int from, int to) {
    ++calls_;
    const std::string ids = "{\"correlation\": " + std::to_string(calls_) +
                            ", \"External id\": " + std::to_string(number(1, 40)) + "}";
    trace_.x(name, from, to - from, ids);
    trace_.cat("kernel").tid("99");
    for (int i = number(0, 2); i > 0; --i)
      trace_.x(number(0, 1) == 0 ? "gemm" : "add", to + number(0, 50), number(0, 20),
               "{\"correlation\": " + std::to_string(calls_) + "}");
  }

  std::mt19937 random_;
  TraceText trace_;
  std::vector<std::pair<int, int>> spans_;
  int operators_ = 0;
  int calls_ = 0;
};

inline std::string random_host(std::uint32_t seed) {
  return RandomHost(seed).text();
}

}  // namespace traceloom
