#include "output/problem_list.h"

namespace traceloom {

void write_problems(JsonWriter& json, std::string_view file, const ProblemCounts& problems) {
  for (const Problem problem : problems.kinds()) {
    json.begin_object();
    json.key("file");
    json.value(file);
    json.key("kind");
    json.value(describe(problem).name);
    json.key("count");
    json.value(problems.count(problem));
    json.key("first_offset");
    json.value(problems.first_offset(problem));
    if (const std::string_view detail = problems.explanation(problem); !detail.empty()) {
      json.key("detail");
      json.value(detail);
    }
    json.end_object();
  }
}

}  // namespace traceloom
