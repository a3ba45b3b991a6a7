// The values of options that choose a part of a trace, read in one way by all commands.
//
//   std::vector<NumberRange> ranks = read_ranks("--ranks", "0,4-7");
//
// Each throws UsageError that says which option is wrong and what to try.
#pragma once

#include "select/label_filter.h"
#include "select/number_range.h"
#include "select/step_selection.h"
#include "select/time_selection.h"

#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// "a,b" -> a, b; "a" -> a; "" -> one empty word.
std::vector<std::string> split_words(const std::string& list);

// "cpu_op,kernel". An element without a name is refused: events without a category are kNoName.
std::vector<std::string> read_categories(const std::string& option, const std::string& list);

// "0,4-7"; none for an empty text.
std::vector<NumberRange> read_ranks(const std::string& option, const std::string& list);

// "1.5s:2s", "200ms:" or ":1s"; nullopt for an empty text.
std::optional<TimeSelection> read_time(const std::string& option, const std::string& text);

// "3:5", ":5", "3:" or "3"; nullopt for an empty text.
std::optional<StepSelection> read_steps(const std::string& option, const std::string& text);

NamePattern read_pattern(const std::string& option, const std::string& expression);

}  // namespace traceloom
