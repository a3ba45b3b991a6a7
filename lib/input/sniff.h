// What a file is by its first bytes, when it is no JSON text.
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

// A tar header's magic ends at byte 262; everything else is known after a few bytes.
inline constexpr std::size_t kSniffBytes = 512;

struct Foreign {
  std::string_view what;    // goes after "is": "a zip archive"
  std::string_view advice;  // what to do: "unpack it first (unzip)"
};

bool is_gzip(std::string_view head);

// `head` is the first kSniffBytes of a file, or all of it. Nothing is said about text: whether that
// is a trace is for its reader to find out.
std::optional<Foreign> sniff_foreign(std::string_view head);

}  // namespace traceloom
