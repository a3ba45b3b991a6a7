// The values of options: selections and lists of words, and what was probably meant by a wrong
// one.
#pragma once

#include "run/mesh_sizes.h"
#include "select/selection.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// Finds the known word that is nearest to an unknown one: "sumarize" -> "summarize".

// Returns how many edits turn `a` into `b`. An edit adds, removes or replaces a character, or swaps
// two neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the nearest of `known`, the first one if several are equally near. A word is near if at
// most a third of its characters have to change. If no word is near, one whose start is near is
// returned ("totl" -> "total_ns", "dataloader" -> "data-loading"), else nullopt.
std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& known);

// Returns " (did you mean --threads?)" or " (did you mean 'summarize'?)"; "" if no word is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// Throws UsageError: "--sort: 'totl' is not one of total, count (did you mean 'total'?)".
[[noreturn]] void refuse_word(std::string_view option, const std::string& word,
                              const std::vector<std::string>& known);

// Does the same for the words of a choice: "--pids: 'spilt' is neither rank nor split (did you mean
// 'split'?)", or "... is none of auto, sync, base".
[[noreturn]] void refuse_choice(std::string_view option, const std::string& word,
                                const std::vector<std::string>& known);

// Reads a word that stands for a value; throws UsageError for any other word.
//
//   read_choice<int>("--pids", "split", {{"rank", 0}, {"split", 1}})     // 1

template <typename Value>
Value read_choice(std::string_view option, const std::string& word,
                  const std::vector<std::pair<std::string, Value>>& choices) {
  std::vector<std::string> known;
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
    known.push_back(name);
  }
  refuse_choice(option, word, known);
}

// Reads the values of options that select a part of a trace, in the same way for all commands.
//
//   std::vector<NumberRange> ranks = read_ranks("--ranks", "0,4-7");
//
// All functions throw UsageError, which says which option is wrong and what to try.

// "a,b" -> a, b; "a" -> a; "" -> one empty word.
std::vector<std::string> split_words(const std::string& list);

// "cpu_op,kernel". An empty element is refused: kNoName stands for events without a category.
std::vector<std::string> read_categories(const std::string& option, const std::string& list);

// "0,4-7"; an empty text gives no ranges.
std::vector<NumberRange> read_ranks(const std::string& option, const std::string& list,
                                    std::string_view noun = "ranks");

// "1.5s:2s", "200ms:" or ":1s"; an empty text gives nullopt.
std::optional<TimeSelection> read_time(const std::string& option, const std::string& text);

// "3:5", ":5", "3:" or "3"; an empty text gives nullopt.
std::optional<StepSelection> read_steps(const std::string& option, const std::string& text);

// "tp=2,pp=4,dp=2", also with cp and ep; an empty text gives no sizes.
MeshSizes read_mesh(const std::string& option, const std::string& text);

NamePattern read_pattern(const std::string& option, const std::string& expression);

// Reads a list of words that each turn something on: --by name,rank or --kinds op,kernel.
//
//   read_switches("--by", "name,rank", {{"name", {&by.name}}, {"rank", {&by.rank}}});

struct SwitchWord {
  std::string word;
  std::vector<bool*> switches = {};  // none if the word needs no switch
};

// Turns on the switches of the words in `list`, which is separated by commas, and turns off those
// of all other `words`. For an unknown word it changes nothing and throws a UsageError: "--by:
// 'rnk' is not one of name, rank (did you mean 'rank'?)".
void read_switches(std::string_view option, const std::string& list,
                   const std::vector<SwitchWord>& words);

}  // namespace traceloom
