// What collectives do, as far as their names tell: those of torch ("nccl:all_reduce"), of its
// records ("allreduce") and of kernels ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)").
//
//   is_all_reduce("ncclKernel_AllReduce_RING_LL_Sum_float") == true
#pragma once

#include <cstdint>
#include <string_view>

namespace traceloom {

bool is_all_reduce(std::string_view name);
// All get what each has.
bool is_gather(std::string_view name);
// Each rank gets a part from each.
bool is_in_parts(std::string_view name);
// One rank sends or gets all.
bool has_root(std::string_view name);
// From one rank to another: whoever sends does not wait for others than the one that receives.
bool is_point_to_point(std::string_view name);
// One direction of it.
bool is_send(std::string_view name);
bool is_receive(std::string_view name);
// False for the kernels that NCCL has for whatever is made of sends, or for all.
bool says_what_it_does(std::string_view name);

// What bus bandwidth is of algorithm bandwidth: NCCL's factors.
double bus_factor(std::string_view name, std::int64_t ranks);

}  // namespace traceloom
