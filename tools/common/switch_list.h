// A list of words that each turn something on: --by name,rank or --kinds op,kernel.
//
//   read_switches("--by", "name,rank", {{"name", {&by.name}}, {"rank", {&by.rank}}});
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

struct SwitchWord {
  std::string word;
  std::vector<bool*> switches = {};  // none for a word that stands for what is there anyway
};

// Turns on the switches of the words in `list`, which commas tell apart, and off those of all other
// `words`. Throws UsageError, with nothing changed, for a word that is not among them:
// "--by: 'rnk' is not one of name, rank (did you mean 'rank'?)".
void read_switches(std::string_view option, const std::string& list,
                   const std::vector<SwitchWord>& words);

}  // namespace traceloom
