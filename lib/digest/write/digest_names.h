// digest_targets: the files in which the digests of several traces are put.
//
//   digest_targets(expand_inputs({"run/"}), {"run/"}, "digests");
//   // run/node1/rank3.json.gz → digests/node1/rank3.digest
#pragma once

#include "input/input_list.h"

#include <string>
#include <vector>

namespace traceloom {

// The name of a trace without .json, .json.gz, .log or .gz, and with .digest.
std::string digest_name(const std::string& trace);

// The path of each input's digest in `folder`, in the order of `inputs`. A trace that was found in
// a folder of `arguments` keeps the way from there; of several arguments, with the name of the
// folder. Throws UsageError if two traces would have one digest.
std::vector<std::string> digest_targets(const std::vector<Input>& inputs,
                                        const std::vector<std::string>& arguments,
                                        const std::string& folder);

}  // namespace traceloom
