// RankArchive: writes a tar of one trace a rank, as Perfetto (from version 58 on) opens it.
//
//   RankArchive archive("merged.tar", 1);
//   archive.add("perfetto_manifest.json", manifest);
//   archive.add("rank0.json", [&](MergeOutput& member) { member.write(text); });
//   archive.close();
//
// The traces in it are not gzip, because Perfetto refuses a manifest that says anything about a
// packed file. The archive as a whole is gzip if its name ends in .gz or .tgz.
#pragma once

#include "merge/order/merge_output.h"
#include "output/file_sink.h"
#include "output/gzip_sink.h"
#include "output/sink.h"
#include "output/spool_file.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace traceloom {

// Behaves as a Sink: without close() nothing is left, and the old output is untouched. Memory is
// small and fixed: a trace waits on disk, next to the output, until its size is known.
class RankArchive {
 public:
  RankArchive(const std::string& path, int gzip_level, StdoutUse stdout_use = {});

  void add(std::string_view name, std::string_view text);
  // Adds what `write` writes; it may write blocks if MergeOutput says gzip.
  void add(std::string_view name, const std::function<void(MergeOutput&)>& write);
  void complete();
  void close();

 private:
  void copy_blocks(const GzipSink& written);

  std::unique_ptr<Sink> archive_;
  GzipSink* gzip_ = nullptr;  // archive_, if that is gzip
  std::string path_;
  int gzip_level_;
  SpoolFile spool_;
  bool is_complete_ = false;
};

}  // namespace traceloom
