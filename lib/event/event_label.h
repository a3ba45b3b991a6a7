// label_text: name and category of an event as one text that can be looked up.
//
//   std::string scratch;
//   std::uint32_t number = labels.intern(label_text(event, scratch));
#pragma once

#include "event/event.h"

#include <string>
#include <string_view>

namespace traceloom {

// Returns the value if it is a string, otherwise an empty view.
std::string_view string_or_nothing(std::string_view value);

// Returns the text that identifies the event's name and category. Most producers write one after
// the other; the text is then the piece of the event that holds both, and nothing is copied.
// Otherwise it is put together in `scratch`. Equal texts mean equal names and categories, but one
// pair may have several texts.
std::string_view label_text(const Event& event, std::string& scratch);

}  // namespace traceloom
