// What an event is called and which category it has, as one text that can be looked up.
//
//   std::string scratch;
//   std::uint32_t number = labels.intern(label_text(event, scratch));
#pragma once

#include "event/event.h"

#include <string>
#include <string_view>

namespace traceloom {

// The value of the key if it is a string, else nothing.
std::string_view string_or_nothing(std::string_view value);

// The text that stands for the event's name and category. Most producers write one behind the
// other, then it is the piece of the event that holds both, and nothing is copied; else it is put
// together in `scratch`. Equal texts mean equal names and categories; the same pair may have
// several texts.
std::string_view label_text(const Event& event, std::string& scratch);

}  // namespace traceloom
