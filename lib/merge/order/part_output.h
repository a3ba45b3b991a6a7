// PartOutput: some of the blocks of a merged trace, which another process writes the rest of.
//
//   PartOutput part("merged.json.gz", 1);                  // on each process but the first
//   part.output().write_block(block);
//   const PartSize size = part.complete();
//   const std::vector<FileGap> gaps = leave_gaps(output, sizes);    // on the first, for all
//   part.copy_to(gaps[rank]);
#pragma once

#include "merge/order/merge_output.h"
#include "output/spool_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

struct PartSize {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;      // of the text, if it is compressed
  std::uint64_t text_size = 0;  // likewise
};

// The part waits in a file without a name, in the folder of the output.
class PartOutput {
 public:
  // Compresses if is_gzip_name(path).
  PartOutput(const std::string& path, int gzip_level);

  MergeOutput& output() { return *output_; }
  // Must be called after all blocks have been written.
  PartSize complete();
  // Writes the part to its place. Throws Error with the path of the output.
  void copy_to(const FileGap& gap) const;

 private:
  std::string path_;
  SpoolFile spool_;
  std::optional<GzipSink> gzip_;
  std::optional<MergeOutput> output_;
};

// Makes room for the parts, one after the other, and counts their text. Returns one gap a part.
std::vector<FileGap> leave_gaps(MergeOutput& output, const std::vector<PartSize>& parts);

}  // namespace traceloom
