// Reads a list of words that each turn something on: --by name,rank or --kinds op,kernel.
//
//   read_switches("--by", "name,rank", {{"name", {&by.name}}, {"rank", {&by.rank}}});
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

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
