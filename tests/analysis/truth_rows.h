// The rows of the reference numbers (../shared/truths), and the checks that can verify them.
#pragma once

#include "oracle/json_value.h"
#include "run/run.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace traceloom {

struct TruthRow {
  std::string source;
  std::vector<std::string> traces;  // paths
  std::string metric;
  oracle::Json expected;
  double tolerance = 0;
  std::string note;
};

// Returns the differences between a row and the command's result, empty if there are none.
using TruthCheck = std::function<std::string(const TruthRow&)>;

// The checks, keyed by metric. A metric without an entry belongs to a command that does not exist
// yet.
const std::map<std::string, TruthCheck>& truth_checks();

// Why a row differs on purpose; empty when it does not.
std::string deliberate_difference(const TruthRow& row);

// Returns the difference that remains if the trace is changed as the other tool changes it on
// loading; empty if none remains, and for rows whose difference has another reason.
std::string unexplained_difference(const TruthRow& row);

// The run of the row's traces. It is kept until another one is asked for: rows of one trace and
// metric follow each other, and reading it for each took half of the time of corpus.analysis.
const Run& run_of(const TruthRow& row, const RunRequest& request = {});

double number_of(const oracle::Json& object, const std::string& key, double otherwise = 0);
std::string text_of_key(const oracle::Json& object, const std::string& key);
inline std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}
// "key: 3 and not 4; " unless they are as near as the row allows, relatively or absolutely.
std::string compare(const TruthRow& row, const std::string& key, double found, double expected);

}  // namespace traceloom
