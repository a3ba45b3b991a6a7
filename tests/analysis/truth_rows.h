// The rows of the reference numbers (../shared/truths), and who can say something about them.
#pragma once

#include "oracle/json_value.h"

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

// The differences between a row and what the command says, empty when there are none.
using TruthCheck = std::function<std::string(const TruthRow&)>;

// By metric; a metric that is not here is of a command that does not exist yet.
const std::map<std::string, TruthCheck>& truth_checks();

// Why a row differs on purpose; empty when it does not.
std::string deliberate_difference(const TruthRow& row);

// What is left of a difference when the same is done to the trace as the other tool does on
// loading it; empty when nothing is, and for rows whose reason is another.
std::string unexplained_difference(const TruthRow& row);

double number_of(const oracle::Json& object, const std::string& key, double otherwise = 0);
std::string text_of_key(const oracle::Json& object, const std::string& key);
// "key: 3 and not 4; " unless they are as near as the row allows, relatively or absolutely.
std::string compare(const TruthRow& row, const std::string& key, double found, double expected);

}  // namespace traceloom
