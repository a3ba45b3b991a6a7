#include "analysis/communication_pieces.h"

#include "analysis/collective_names.h"
#include "analysis/launching_ranges.h"
#include "analysis/tensor_bytes.h"
#include "run/details.h"

#include <algorithm>
#include <string_view>

namespace traceloom {
namespace {

// "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)" without its
// arguments.
std::string_view kernel_name(std::string_view name) {
  return name.substr(0, name.find('('));
}

std::string_view find_word(std::string_view details, std::string_view key) {
  const std::string_view word = find_detail(details, key);
  return word == "null" ? std::string_view{} : word;
}

std::string_view details_at(const Run& run, std::uint32_t number) {
  return number == kNoDetail ? std::string_view{} : run.details[number];
}

CommunicationPiece piece_of(const Run& run, std::size_t rank, const HostSpan& span,
                            std::string_view details) {
  CommunicationPiece piece;
  piece.start_ns = span.start_ns;
  Collective& what = piece.what;
  const std::string_view name = find_word(details, "Collective name");
  what.name = name.empty() ? kernel_name(run.labels.name(span.label)) : name;
  what.dtype = find_word(details, "dtype");
  what.group = {find_word(details, "Process Group Name"),
                find_word(details, "Process Group Description"),
                find_word(details, "Process Group Ranks")};
  what.group_size = find_integer(details, "Group size").value_or(0);
  const std::int64_t elements =
      find_integer(details, is_gather(what.name) ? "Out msg nelems" : "In msg nelems").value_or(0);
  what.bytes = tensor_bytes(elements, what.dtype);
  what.parts.push_back({rank, span.start_ns, span.end_ns});
  piece.seq = find_integer(details, "Seq").value_or(kNoId);
  if (is_send(what.name))
    piece.peer = find_integer(details, "Dst Rank");
  else if (is_receive(what.name))
    piece.peer = find_integer(details, "Src Rank");
  return piece;
}

// What the tensors take that an operator of the host was called with.
std::int64_t input_bytes(std::string_view arguments) {
  std::string_view dims = find_detail(arguments, "Input Dims");
  if (dims.empty()) dims = find_detail(arguments, "Input dims");
  return tensor_bytes(dims, find_detail(arguments, "Input type"));
}

// "float" of `["float", "Scalar"]`.
std::string_view first_type(std::string_view arguments) {
  std::string_view list = find_detail(arguments, "Input type");
  const std::size_t begin = list.find('"');
  if (begin == std::string_view::npos) return {};
  list.remove_prefix(begin + 1);
  std::string_view type = list.substr(0, list.find('"'));
  if (type.starts_with("c10::")) type.remove_prefix(5);
  return type;
}

// What a kernel does not say itself; bytes only where no other one shares them.
void add_range(const Run& run, const LaunchingRange& range, CommunicationPiece& piece) {
  Collective& what = piece.what;
  if (!says_what_it_does(what.name)) what.name = run.labels.name(range.span.label);
  if (what.bytes > 0) return;
  const std::string_view arguments = details_at(run, range.span.arguments);
  if (what.dtype.empty()) what.dtype = first_type(arguments);
  const std::int64_t bytes = input_bytes(arguments);
  piece.shares_range = bytes > 0 && range.pieces > 1;
  if (piece.shares_range) return;
  what.bytes = bytes;
  what.bytes_are_input = true;
}

void append_device_pieces(const Run& run, std::size_t rank,
                          std::vector<CommunicationPiece>& pieces) {
  const LaunchingRanges ranges(run, run.ranks[rank]);
  for (const EventColumns& part : run.ranks[rank].parts)
    for (const DeviceSpan& span : part.devices) {
      if (run.labels.kind(span.label).role != Role::communication) continue;
      CommunicationPiece piece = device_piece(run, rank, span);
      if (const LaunchingRange* const range = ranges.find(part, span))
        add_range(run, *range, piece);
      pieces.push_back(std::move(piece));
    }
}

void append_host_pieces(const Run& run, std::size_t rank, std::vector<CommunicationPiece>& pieces) {
  run.ranks[rank].for_each_mark([&](const MarkedSpan& span) {
    if (span.mark != SpanMark::collective) return;
    CommunicationPiece piece = piece_of(run, rank, span, {});
    piece.what.bytes = input_bytes(details_at(run, span.arguments));
    piece.what.bytes_are_input = true;
    piece.own_bytes = piece.what.bytes;
    pieces.push_back(std::move(piece));
  });
}

}  // namespace

CommunicationPiece device_piece(const Run& run, std::size_t rank, const DeviceSpan& span) {
  CommunicationPiece piece = piece_of(run, rank, span, details_at(run, span.detail));
  piece.own_dtype = piece.what.dtype;
  piece.own_bytes = piece.what.bytes;
  return piece;
}

std::vector<CommunicationPiece> find_communication(const Run& run, std::size_t rank) {
  std::vector<CommunicationPiece> pieces;
  append_device_pieces(run, rank, pieces);
  if (pieces.empty()) append_host_pieces(run, rank, pieces);
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const CommunicationPiece& a, const CommunicationPiece& b) {
                     return a.start_ns < b.start_ns;
                   });
  return pieces;
}

}  // namespace traceloom
