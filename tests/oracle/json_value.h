// A JSON document as a tree, for the oracle: numbers keep the text they were written with, because
// times have more digits than a double.
//
//   Json doc = parse_json(R"({"ts": 1712195495406752.812})");
//   doc.find("ts")->text;   // "1712195495406752.812"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace traceloom::oracle {

struct Json {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  std::string text;  // number: as written; string: its characters; boolean: true, false
  std::vector<std::string> keys;  // object: keys[i] belongs to items[i], in the order of the text
  std::vector<Json> items;        // object: the values; array: the elements

  // The value of a key (the last one, when it stands twice), or nullptr.
  const Json* find(std::string_view key) const;
};

// Throws std::runtime_error, with the byte offset, when `text` is not one valid JSON document. Half
// a surrogate pair is read as U+FFFD; bytes that are not UTF-8 are taken as they are.
Json parse_json(std::string_view text);

// Returns the same text for equal values: no white space, keys sorted, one way to escape, numbers
// as written.
std::string canonical_text(const Json& value);

}  // namespace traceloom::oracle
