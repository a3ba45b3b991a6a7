// Reads the values of options that select a part of a trace, in the same way for all commands.
//
//   std::vector<NumberRange> ranks = read_ranks("--ranks", "0,4-7");
//
// All functions throw UsageError, which says which option is wrong and what to try.
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

// "cpu_op,kernel". An empty element is refused: kNoName stands for events without a category.
std::vector<std::string> read_categories(const std::string& option, const std::string& list);

// "0,4-7"; an empty text gives no ranges.
std::vector<NumberRange> read_ranks(const std::string& option, const std::string& list);

// "1.5s:2s", "200ms:" or ":1s"; an empty text gives nullopt.
std::optional<TimeSelection> read_time(const std::string& option, const std::string& text);

// "3:5", ":5", "3:" or "3"; an empty text gives nullopt.
std::optional<StepSelection> read_steps(const std::string& option, const std::string& text);

NamePattern read_pattern(const std::string& option, const std::string& expression);

}  // namespace traceloom
