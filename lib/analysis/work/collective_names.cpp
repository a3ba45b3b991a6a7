#include "analysis/work/collective_names.h"

#include "base/ascii.h"

#include <algorithm>

namespace traceloom {
namespace {

// HLO writes all-reduce, other producers all_reduce.
bool has(std::string_view name, std::string_view part) {
  const auto is_same = [](char any, char lower) {
    return (any == '-' ? '_' : to_lower(any)) == lower;
  };
  return std::search(name.begin(), name.end(), part.begin(), part.end(), is_same) != name.end();
}

}  // namespace

bool is_all_reduce(std::string_view name) {
  return has(name, "allreduce") || has(name, "all_reduce");
}

bool is_gather(std::string_view name) {
  return has(name, "allgather") || has(name, "all_gather");
}

bool is_broadcast(std::string_view name) {
  return has(name, "broadcast");
}

bool is_reduce_scatter(std::string_view name) {
  return has(name, "reduce_scatter") || has(name, "reducescatter");
}

bool is_in_parts(std::string_view name) {
  return is_gather(name) || is_reduce_scatter(name) || has(name, "alltoall") ||
         has(name, "all_to_all");
}

bool has_root(std::string_view name) {
  return has(name, "broadcast") || has(name, "reduce") || has(name, "gather") ||
         has(name, "scatter");
}

bool is_point_to_point(std::string_view name) {
  return has(name, "send") || has(name, "recv") || has(name, "receive");
}

bool is_send(std::string_view name) {
  return has(name, "send") && !has(name, "recv") && !has(name, "receive");
}

bool is_receive(std::string_view name) {
  return (has(name, "recv") || has(name, "receive")) && !has(name, "send");
}

bool says_what_it_does(std::string_view name) {
  return is_in_parts(name) || has_root(name) || is_send(name) || is_receive(name);
}

bool works_on_host(std::string_view name) {
  return name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("shm:");
}

double bus_factor(std::string_view name, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (ranks < 2) return 1;
  if (is_all_reduce(name)) return 2 * (n - 1) / n;
  if (is_in_parts(name)) return (n - 1) / n;
  return 1;
}

}  // namespace traceloom
