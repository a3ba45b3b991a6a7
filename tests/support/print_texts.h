// Lets doctest show lists of texts where a CHECK fails.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace doctest {

template <>
struct StringMaker<std::vector<std::string>> {
  static String convert(const std::vector<std::string>& texts) {
    std::string shown;
    for (const std::string& text : texts) shown += "\n  " + text;
    return shown.c_str();
  }
};

}  // namespace doctest
