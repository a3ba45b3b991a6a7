#include "comparison/slow_steps.h"

#include "comparison/judge/capture_value.h"
#include "output/json_writer.h"

#include <fmt/format.h>

namespace traceloom {

SlowSteps::SlowSteps(const ComparedSides& sides, int looks) {
  base_.add(sides.base);
  changed_.add(sides.changed);
  if (looks < 2) return;
  base_.add(sides.base_again);
  changed_.add(sides.changed_again);
}

void SlowSteps::Count::add(const std::vector<Capture>& captures) {
  for (const Capture& capture : captures) {
    if (!capture.value_ns) continue;
    slow += count_slow_steps(capture.steps_ns);
    all += capture.steps_ns.size() - 1;
  }
}

std::string SlowSteps::line() const {
  return fmt::format(
      "Slow steps: {} of {} in base, {} of {} in new take at least 1.5 times their capture's "
      "median; the verdict is about the others (a gate on them: --gate 'step.p99<=+20%')",
      base_.slow, base_.all, changed_.slow, changed_.all);
}

std::string SlowSteps::json() const {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  const auto write = [&](std::string_view side, const Count& count) {
    json.key(side);
    json.begin_object();
    json.key("slow");
    json.value(count.slow);
    json.key("steps");
    json.value(count.all);
    json.end_object();
  };
  write("base", base_);
  write("new", changed_);
  json.end_object();
  return text;
}

}  // namespace traceloom
