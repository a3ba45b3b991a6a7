// GateTerm: one condition of a gate, as people write it.
//
//   const GateTerm term = read_gate_term("--gate", "kernel[flash.*].time<=+10%", {"time",
//   "calls"}); term.name == "kernel"; *term.pattern == "flash.*"; term.field == "time";
//   term.bounds[0].value                                                     // 0.1
//
// The form is NAME[PATTERN].FIELD<=BOUND or BOUND ...
// 1. "[PATTERN]", ".FIELD" and the bounds can be left out; NAME can if there is a pattern. Each
//    command says what names and fields it has, and what it does without a bound.
// 2. "<=5%" says what has to hold, and ">5%" what must not: they mean the same. So does "=5%",
//    which needs no quotes in a shell.
// 3. A bound is a share (5%), a time (5ms), a size (2GiB) or a number (100). With "+" it is a
//    change against a base: +10%.
// 4. With several bounds it is enough that one holds: "<=+10% or +1ms".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

enum class BoundUnit : std::uint8_t { share, time, bytes, number };

struct GateBound {
  double value = 0;  // a share from 0 on (5 % is 0.05), ns, bytes, or the number
  BoundUnit unit = BoundUnit::number;
  bool is_change = false;  // it was written with "+"
};

struct GateTerm {
  std::string text;  // as written, for messages
  std::string name;
  std::optional<std::string> pattern = {};
  std::string field = {};  // one of the fields that the caller knows, or ""
  std::vector<GateBound> bounds = {};

  // Returns the text before the bounds: "kernel[flash.*].time".
  std::string metric() const;
};

// A suffix that is not among `fields` is part of the name. Throws UsageError, which begins with
// `option`, for a bound that is none.
GateTerm read_gate_term(std::string_view option, const std::string& text,
                        const std::vector<std::string_view>& fields);

// Splits a list at its commas, but not at those in a pattern.
std::vector<std::string> split_gate_terms(const std::string& list);

// Puts the terms of a file in the place of its name, "@FILE": one a line, without empty lines and
// those that begin with "#". Throws Error for a file that cannot be read or has none.
std::vector<std::string> with_gate_files(const std::vector<std::string>& words);

}  // namespace traceloom
