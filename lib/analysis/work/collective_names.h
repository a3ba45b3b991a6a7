// Tells by its name what a collective does. Names are those of torch ("nccl:all_reduce"), of its
// records ("allreduce"), of kernels ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)") and of HLO
// ("all-reduce.3").
//
//   is_all_reduce("ncclKernel_AllReduce_RING_LL_Sum_float") == true
#pragma once

#include <cstdint>
#include <string_view>

namespace traceloom {

bool is_all_reduce(std::string_view name);
// Every rank gets what every other one has.
bool is_gather(std::string_view name);
// Every rank gets a part from every other one.
bool is_in_parts(std::string_view name);
bool is_reduce_scatter(std::string_view name);
// One rank sends or gets all.
bool has_root(std::string_view name);
// From one rank to another: whoever sends does not wait for others than the one that receives.
bool is_point_to_point(std::string_view name);
// A message is seen from one of its ends.
bool is_send(std::string_view name);
bool is_receive(std::string_view name);
// False for the kernels that NCCL has for whatever is made of sends, or for all.
bool says_what_it_does(std::string_view name);
// A range of the host with that name lasts as long as the collective. NCCL and its like only start
// there what devices do.
bool works_on_host(std::string_view name);

// NCCL's factor by which bus bandwidth is more than algorithm bandwidth.
double bus_factor(std::string_view name, std::int64_t ranks);

}  // namespace traceloom
