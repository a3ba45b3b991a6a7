// sniff_foreign: recognises files that are no JSON text by their first bytes.
//
//   std::optional<Foreign> foreign = sniff_foreign(head);
//   if (foreign) throw Error(path, fmt::format("is {}; {}", foreign->what, foreign->advice));
//
// To recognise another format: one row in the table in sniff.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace traceloom {

// The magic of a tar header ends at byte 262; all other formats need only a few bytes.
inline constexpr std::size_t kSniffBytes = 512;

struct Foreign {
  std::string_view what;    // the words after "is": "a zip archive"
  std::string_view advice;  // the advice: "unpack it first (unzip)"
};

bool is_gzip(std::string_view head);

// `head` is the first kSniffBytes of a file, or all of a shorter one. Returns nullopt for text: the
// reader of the text finds out whether it is a trace.
std::optional<Foreign> sniff_foreign(std::string_view head);

}  // namespace traceloom
