// Baselines: a file is refused with an Error, or what it holds is written and read again.
#include "base/problems.h"
#include "comparison/captures/baseline.h"
#include "fuzz/fuzz.h"

using namespace traceloom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file({reinterpret_cast<const char*>(data), size});
  is_baseline(file.path());
  try {
    const std::string text = baseline_json(read_baseline(file.path()));
    const MemoryFile again(text);
    require(baseline_json(read_baseline(again.path())) == text);
  } catch (const Error&) {
  }
  return 0;
}
