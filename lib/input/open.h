// open_input: opens an input and recognises its format by the first bytes, never by its name.
#pragma once

#include "input/byte_source.h"
#include "input/file_watch.h"

#include <memory>
#include <string>

namespace traceloom {

// Opens plain text, gzip (any number of members; gzip inside gzip is unpacked twice) or a digest,
// which is unpacked by up to `threads` threads ahead of the reader. "-" is stdin. Throws Error if
// the file cannot be opened, is empty, or is something other than a JSON trace: zip, zstd, bzip2,
// xz, PNG, HTML, UTF-16, a git-lfs pointer, a binary Perfetto trace, SQLite. The message names the
// format and what to do. Throws Error also if `watch` has seen another file at this path; `watch`
// must live as long as the source.
std::unique_ptr<ByteSource> open_input(const std::string& path, FileWatch* watch = nullptr,
                                       unsigned threads = 1);

}  // namespace traceloom
