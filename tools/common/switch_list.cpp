#include "common/switch_list.h"

#include "common/did_you_mean.h"
#include "common/selection_options.h"

#include <algorithm>

namespace traceloom {
namespace {

std::vector<std::string> texts_of(const std::vector<SwitchWord>& words) {
  std::vector<std::string> texts;
  texts.reserve(words.size());
  for (const SwitchWord& known : words) texts.push_back(known.word);
  return texts;
}

}  // namespace

void read_switches(std::string_view option, const std::string& list,
                   const std::vector<SwitchWord>& words) {
  std::vector<const SwitchWord*> listed;
  for (const std::string& word : split_words(list)) {
    const auto known = std::find_if(words.begin(), words.end(),
                                    [&](const SwitchWord& one) { return one.word == word; });
    if (known == words.end()) refuse_word(option, word, texts_of(words));
    listed.push_back(&*known);
  }
  for (const SwitchWord& known : words)
    for (bool* const one : known.switches) *one = false;
  for (const SwitchWord* const known : listed)
    for (bool* const one : known->switches) *one = true;
}

}  // namespace traceloom
