// pairing_facts: the facts about the B and E events of a trace, from the reference facts.
//
//   if (const oracle::Json* pairs = pairing_facts(facts, text)) number(*pairs, "orphan_E");
//
// The reference facts count pairs by two rules. Ours gives the results of one of them: by name for
// Composer's files, by stack for all others.
#pragma once

#include "oracle/json_value.h"

#include <string_view>

namespace traceloom {

// nullptr when there are no such events.
inline const oracle::Json* pairing_facts(const oracle::Json& facts, std::string_view text) {
  const bool is_composer = text.find("\"global_rank\"") != std::string_view::npos;
  const oracle::Json* const by_stack = facts.find("be_lifo");  // present only if it differs
  return is_composer || by_stack == nullptr ? facts.find("be_named") : by_stack;
}

}  // namespace traceloom
