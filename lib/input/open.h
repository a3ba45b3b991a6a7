// Opens an input by what its first bytes say, never by its name.
#pragma once

#include "input/byte_source.h"
#include "input/file_watch.h"

#include <memory>
#include <string>

namespace traceloom {

// Plain text or gzip (any number of members; gzip inside gzip is unpacked twice). "-" is stdin.
// Throws Error when the file cannot be opened, is empty, or is recognised as something that is no
// JSON trace: zip, zstd, bzip2, xz, PNG, HTML, UTF-16, a git-lfs pointer, a binary Perfetto trace,
// SQLite; the message names what it looks like and what to do. Also when `watch`, which must live
// as long as the source, has seen another file there.
std::unique_ptr<ByteSource> open_input(const std::string& path, FileWatch* watch = nullptr);

}  // namespace traceloom
