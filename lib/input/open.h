// Opens inputs of any format, and recognises files that are no traces.
#pragma once

#include "input/byte_source.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// sniff_foreign: recognises files that are no JSON text by their first bytes.
//
//   std::optional<Foreign> foreign = sniff_foreign(head);
//   if (foreign) throw Error(path, fmt::format("is {}; {}", foreign->what, foreign->advice));
//
// To recognise another format: one row in the table in open.cpp.

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

// True for a pipe with a name, also one of a shell: <(command).
bool is_pipe(const std::string& path);

// open_input: opens an input and recognises its format by the first bytes, never by its name.

// Opens plain text, gzip (any number of members) or zstd (any number of frames, which are unpacked
// by up to `threads` threads ahead of the reader); what is packed twice is unpacked twice. "-" is
// stdin. Throws Error if the file cannot be opened, is empty or a device, or is something other
// than a JSON trace: zip, bzip2, xz, PNG, HTML, UTF-16, a git-lfs pointer, a binary Perfetto trace,
// SQLite. The message names the format and what to do. Throws Error also if `watch` has seen
// another file at this path; `watch` must live as long as the source.
std::unique_ptr<ByteSource> open_input(const std::string& path, FileWatch* watch = nullptr,
                                       unsigned threads = 1);

// read_text: all of a small file that is no trace, opened by the same rules.
//
//   const JsonDocument settings(read_text("settings.json", 1 << 20));

// Throws Error as open_input() and its source do, and if the text has more than `most` bytes.
std::string read_text(const std::string& path, std::size_t most);

// is_other_json: recognises JSON files that lie beside traces and are none: reports, settings,
// notes.
//
//   if (is_other_json("traces/report.json")) continue;

// True if the file is one whole JSON object in which "traceEvents" does not occur. A trace that is
// damaged or cut is not: its reader has to report what is wrong. False also for a file of more than
// 4 MiB (uncompressed), which is not read to its end, and for a file that cannot be read. Of most
// traces only the first 4 KiB are read.
bool is_other_json(const std::string& path);

}  // namespace traceloom
