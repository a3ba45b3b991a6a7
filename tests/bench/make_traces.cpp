// make_traces: a set of per-rank traces for measurements, as large as wanted and always the same.
#include "bench/kineto_writer.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>

using namespace traceloom::bench;

namespace {

void write_set(const std::string& folder, RankFile file) {
  const Names names = make_names();
  std::filesystem::create_directories(folder);
  for (file.rank = 0; file.rank < file.ranks; ++file.rank) {
    file.path = fmt::format("{}/rank{}.pt.trace.json{}", folder, file.rank, file.gzip ? ".gz" : "");
    const WrittenFile written = write_rank(file, names);
    fmt::print("{}: {:.1f} MB, {} events, {} steps, clock {:+} ns\n", file.path,
               static_cast<double>(written.text_bytes) / 1e6, written.events, written.steps,
               written.clock_offset_ns);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes the traces of N ranks as torch's profiler would, about M MB of text each.");
  std::string folder;
  RankFile file;
  file.ranks = 8;
  app.add_option("OUTDIR", folder, "Where the files go: rank<R>.pt.trace.json")->required();
  app.add_option("-n,--ranks", file.ranks, "Number of ranks")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("-m,--megabytes", file.megabytes, "Text of each, in MB")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app.add_option("--seed", file.seed, "Other numbers, other traces")->capture_default_str();
  app.add_flag("--gzip", file.gzip, "Write .json.gz (zlib, level 6)");
  CLI11_PARSE(app, argc, argv);
  try {
    write_set(folder, file);
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_traces: {}\n", error.what());
    return 2;
  }
  return 0;
}
