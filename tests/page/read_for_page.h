// A run that is read as `trace-stats report` reads it, and what a page says how often.
#pragma once

#include "page/page.h"
#include "support/run_texts.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

inline Run read_for_page(const std::vector<std::pair<std::string, std::string>>& files,
                         unsigned threads = 0) {
  RunRequest request;
  prepare_for_page(request);
  request.threads = threads;
  return read_texts(files, request);
}

inline std::size_t count_of_text(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

}  // namespace traceloom
