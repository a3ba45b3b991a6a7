// All that a verdict says, and the verdict on one trace.
//
//   const Verdict verdict = verdict_of(trace);
//   CHECK(words_of(verdict).find("torch.compile") == std::string::npos);
#pragma once

#include "analysis/verdict/verdict_words.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

namespace traceloom {

inline std::string words_of(const Verdict& verdict) {
  std::string words =
      fmt::format("{}\n{}\n{}\n{}\n", verdict_headline(verdict), fmt::join(verdict.evidence, "\n"),
                  fmt::join(verdict.left_out, "\n"), verdict.next);
  for (const Remedy& remedy : verdict.remedies)
    words += fmt::format("{}: {}\n", remedy.text, remedy.where);
  return words;
}

// The arguments of a call and of the work that it launched.
inline std::string linked(int correlation, int stream = 7) {
  return fmt::format(R"({{"device": 0, "stream": {}, "correlation": {}}})", stream, correlation);
}

inline Run read_step(const TraceText& trace, std::string_view members = "") {
  return read_texts({{"rank0.json", trace.object(members)}}, {.python = true});
}

inline Verdict verdict_of(const TraceText& trace, std::string_view members = "") {
  return find_verdict(Findings(read_step(trace, members)));
}

}  // namespace traceloom
