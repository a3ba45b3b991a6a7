#define TRACELOOM_DISABLE
#include <traceloom/recorder.h>
#include <vector>

using namespace traceloom::record;

// The program is linked with nothing: a symbol that the recorder left in the code would be missing.
int main() {
  static const Marker marker("work", "test");
  const Marker made = Marker::of("made");
  const Counter counter("memory", "mem", {"used"});
  std::vector<int> loader{1, 2, 3};
  int sum = 0;
  for (const int batch : timed(loader, marker)) {
    TRACELOOM_SCOPE("work", "test");
    TRACELOOM_INSTANT("now");
    const Scope scope(made);
    marker.start();
    sum += marker.call([&] { return batch; });
    marker.finish();
    counter.record(sum);
  }
  return sum == 6 ? 0 : 1;
}
