#include "scan/scan_files.h"

namespace traceloom {

// These functions have a file of their own, so that a program that reads a file without
// scan_files() does not need TBB, which scan_files() uses.
void FileVisitor::recycle(std::unique_ptr<ChunkResult>) {}
void FileVisitor::finish_chunk(ChunkResult&) {}
void FileVisitor::fail_file(std::size_t, const Error& error) {
  throw error;
}

}  // namespace traceloom
