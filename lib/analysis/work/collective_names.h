// Classifies collectives by name. Names come from torch ("nccl:all_reduce"), from its records
// ("allreduce"), from kernels ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)") and from HLO
// ("all-reduce.3").
//
//   is_all_reduce("ncclKernel_AllReduce_RING_LL_Sum_float") == true
#pragma once

#include <cstdint>
#include <string_view>

namespace traceloom {

bool is_all_reduce(std::string_view name);
// True if every rank receives the data of all others.
bool is_gather(std::string_view name);
// True if every rank receives a part from every other rank.
bool is_in_parts(std::string_view name);
bool is_reduce_scatter(std::string_view name);
bool is_broadcast(std::string_view name);
// True if one rank sends or receives all data.
bool has_root(std::string_view name);
// True for a message from one rank to another: the sender waits only for the receiver.
bool is_point_to_point(std::string_view name);
// A message is recorded at each of its ends.
bool is_send(std::string_view name);
bool is_receive(std::string_view name);
// False for kernels of NCCL that serve everything made of sends, or everything at all.
bool says_what_it_does(std::string_view name);
// True if a range of the host with that name lasts as long as the collective. NCCL and similar
// libraries only start work of devices in their ranges.
bool works_on_host(std::string_view name);

// Returns NCCL's ratio of bus bandwidth to algorithm bandwidth.
double bus_factor(std::string_view name, std::int64_t ranks);

}  // namespace traceloom
