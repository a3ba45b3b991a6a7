// A run that is read as `trace-stats report` reads it.
#pragma once

#include "page/page.h"
#include "support/run_texts.h"

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

}  // namespace traceloom
