#include "analysis/numbers/text_numbers.h"

#include "run/details.h"

#include <string>

namespace traceloom {

TextNumbers label_names(const Labels& labels) {
  TextNumbers names;
  for (std::uint32_t label = 0; label < labels.size(); ++label) names.add(labels.name(label));
  return names;
}

TextNumbers detail_parts(const StringTable& details, const std::vector<std::string_view>& keys) {
  TextNumbers parts;
  std::string part;
  for (std::uint32_t detail = 0; detail < details.size(); ++detail) {
    part.clear();
    for (const std::string_view key : keys) {
      const std::string_view value = find_detail(details[detail], key);
      if (!value.empty()) append_detail(part, key, value);
    }
    parts.add(part);
  }
  return parts;
}

TextNumbers argument_parts(const StringTable& details, bool all) {
  std::vector<std::string_view> keys{"Input Dims", "Input dims"};
  if (all) keys.insert(keys.end(), {"Input type", "Input Strides", "Concrete Inputs"});
  return detail_parts(details, keys);
}

}  // namespace traceloom
