// What the reference facts of a trace say of its B and E events.
//
//   if (const oracle::Json* pairs = pairing_facts(facts, text)) number(*pairs, "orphan_E");
//
// They tell pairs by two rules. Ours gives what each finds right: by name in Composer's files,
// by stack in all others.
#pragma once

#include "oracle/json_value.h"

#include <string_view>

namespace traceloom {

// nullptr when there are no such events.
inline const oracle::Json* pairing_facts(const oracle::Json& facts, std::string_view text) {
  const bool is_composer = text.find("\"global_rank\"") != std::string_view::npos;
  const oracle::Json* const by_stack = facts.find("be_lifo");  // only where it differs
  return is_composer || by_stack == nullptr ? facts.find("be_named") : by_stack;
}

}  // namespace traceloom
