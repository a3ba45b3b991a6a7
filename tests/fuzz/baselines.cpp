// Baselines: a file is refused with an Error, or what it holds is written and read again; packed,
// it holds the same.
#include "base/problems.h"
#include "comparison/captures/baseline.h"
#include "fuzz/fuzz.h"
#include "support/zstd_text.h"

#include <optional>

using namespace traceloom;

namespace {

std::optional<std::string> written_again(std::string_view text) {
  const MemoryFile file(text);
  is_baseline(file.path());
  try {
    return baseline_json(read_baseline(file.path()));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<std::string> written = written_again(text);
  if (!written) return 0;
  require(written_again(*written) == written);
  require(written_again(zstd_frame(text)) == written);
  return 0;
}
