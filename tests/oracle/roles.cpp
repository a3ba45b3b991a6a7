#include "oracle/roles.h"

#include "oracle/json_value.h"

#include <algorithm>

namespace traceloom::oracle {
namespace {

struct Piece {
  int role;  // -1: a step
  std::int64_t from_us;
  std::int64_t to_us;
};

int role_of(const std::string& name, const std::string& category) {
  if (name.rfind("ProfilerStep#", 0) == 0) return -1;
  if (category == "kernel") return name.rfind("nccl", 0) == 0 ? 3 : 0;
  if (category == "gpu_memcpy") return 1;
  if (category == "gpu_memset") return 2;
  if (name.rfind("gloo:", 0) == 0) return 3;
  if (category == "cuda_runtime") return 4;
  if (name.rfind("enumerate(DataLoader)#", 0) == 0) return 5;
  return 6;
}

std::vector<Piece> read_pieces(const std::string& trace) {
  std::vector<Piece> pieces;
  for (const Json& event : parse_json(trace).items) {
    const std::int64_t from = std::stoll(event.find("ts")->text);
    pieces.push_back({role_of(event.find("name")->text, event.find("cat")->text), from,
                      from + std::stoll(event.find("dur")->text)});
  }
  return pieces;
}

}  // namespace

std::vector<StepRoles> find_step_roles(const std::string& trace) {
  const std::vector<Piece> pieces = read_pieces(trace);
  std::vector<StepRoles> steps;
  for (const Piece& step : pieces) {
    if (step.role != -1) continue;
    StepRoles roles;
    for (std::int64_t us = step.from_us; us < step.to_us; ++us) {
      std::array<bool, 9> held{};
      for (const Piece& piece : pieces)
        if (piece.role >= 0 && piece.from_us <= us && us < piece.to_us)
          held[static_cast<std::size_t>(piece.role)] = true;
      held[8] = std::none_of(held.begin(), held.end(), [](bool is) { return is; });
      for (std::size_t role = 0; role < held.size(); ++role)
        if (held[role]) roles.raw_ns[role] += 1000;
      roles.exclusive_ns[static_cast<std::size_t>(std::find(held.begin(), held.end(), true) -
                                                  held.begin())] += 1000;
    }
    steps.push_back(roles);
  }
  return steps;
}

}  // namespace traceloom::oracle
