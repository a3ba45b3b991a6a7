#include "scan/scan_files.h"

namespace traceloom {

// By themselves, so that who reads a file without scan_files() does not need what that stands on.
void FileVisitor::recycle(std::unique_ptr<ChunkResult>) {}
void FileVisitor::finish_chunk(ChunkResult&) {}
void FileVisitor::fail_file(std::size_t, const Error& error) {
  throw error;
}

}  // namespace traceloom
