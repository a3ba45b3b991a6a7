// All that a verdict says.
//
//   CHECK(words_of(verdict).find("torch.compile") == std::string::npos);
#pragma once

#include "analysis/verdict/verdict_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

namespace traceloom {

inline std::string words_of(const Verdict& verdict) {
  std::string words =
      fmt::format("{}\n{}\n{}\n{}\n", verdict_headline(verdict), fmt::join(verdict.evidence, "\n"),
                  fmt::join(verdict.left_out, "\n"), verdict.next);
  for (const Remedy& remedy : verdict.remedies)
    words += fmt::format("{}: {}\n", remedy.text, remedy.where);
  return words;
}

}  // namespace traceloom
