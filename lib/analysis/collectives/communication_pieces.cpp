#include "analysis/collectives/collectives.h"
#include "analysis/numbers.h"
#include "analysis/work/launching_host.h"
#include "analysis/work/work_names.h"
#include "base/ascii.h"
#include "base/json_string.h"
#include "base/json_walk.h"
#include "per_rank/per_rank.h"
#include "run/event_columns.h"
#include "select/selection.h"

#include <algorithm>
#include <initializer_list>

namespace traceloom {
namespace {

// The types of one size: names in lower case, without "c10::".
struct TypesOfSize {
  std::int64_t bytes;
  std::initializer_list<std::string_view> names;  // torch's, then those of HCCL
};
const TypesOfSize kTypeSizes[] = {
    {1,
     {"byte", "char", "signed char", "unsigned char", "bool", "float8_e4m3fn", "float8_e5m2",
      "float8_e4m3fnuz", "float8_e5m2fnuz", "int8", "uint8"}},
    {2,
     {"half", "bfloat16", "short", "short int", "unsigned short", "fp16", "bfp16", "int16",
      "uint16"}},
    {4, {"float", "int", "unsigned int", "fp32", "int32", "uint32"}},
    {8,
     {"double", "long", "long int", "complexfloat", "complex<float>", "unsigned long", "fp64",
      "int64", "uint64"}},
    {16, {"complexdouble", "complex<double>"}},
};

// True for a list that json_walk.h can read.
bool is_strict_list(std::string_view text) {
  return is_json_list(text) && is_strict_json(text);
}

std::vector<std::string_view> elements_of(std::string_view list) {
  std::vector<std::string_view> elements;
  for_each_element(list, [&](std::string_view element) { elements.push_back(element); });
  return elements;
}

// Returns the number of elements of the tensor with that shape, or of the tensors with those
// shapes.
std::optional<std::int64_t> count_elements(std::string_view shape) {
  if (!is_json_list(shape)) return std::nullopt;
  const std::vector<std::string_view> parts = elements_of(shape);
  const bool is_nested = !parts.empty() && is_json_list(parts.front());
  std::int64_t count = is_nested ? 0 : 1;
  for (const std::string_view part : parts) {
    const std::optional<std::int64_t> size = is_nested ? count_elements(part) : parse_number(part);
    if (!size) return std::nullopt;
    if (is_nested ? __builtin_add_overflow(count, *size, &count)
                  : __builtin_mul_overflow(count, *size, &count))
      return std::nullopt;
  }
  return count;
}

// Returns the bytes of one element: "Float", "c10::BFloat16", "long int"; 0 for an unknown type.
std::int64_t type_bytes(std::string_view dtype) {
  const std::string lower = to_lower(dtype);
  std::string_view name = lower;
  if (name.starts_with("c10::")) name.remove_prefix(5);
  for (const TypesOfSize& size : kTypeSizes)
    if (std::ranges::find(size.names, name) != size.names.end()) return size.bytes;
  return 0;
}

// Counts the bytes of one argument with that shape and that type, which includes its quotes. An
// argument that is no tensor has 0.
std::optional<std::int64_t> bytes_of(std::string_view shape, std::string_view type) {
  if (!is_json_list(shape)) return std::nullopt;
  if (elements_of(shape).empty()) return 0;
  if (!type.starts_with('"')) return std::nullopt;
  const std::optional<std::int64_t> elements = count_elements(shape);
  const std::int64_t each = type_bytes(type.substr(1, type.size() - 2));
  std::int64_t bytes = 0;
  if (!elements || each == 0 || __builtin_mul_overflow(*elements, each, &bytes))
    return std::nullopt;
  return bytes;
}

using Argument = std::pair<std::string_view, std::string_view>;  // shape and type

// Returns nothing if a list is cut, or if the lists do not match.
std::vector<Argument> arguments_of(std::string_view dims, std::string_view types) {
  if (!is_strict_list(dims) || !is_strict_list(types)) return {};
  const std::vector<std::string_view> shapes = elements_of(dims);
  const std::vector<std::string_view> names = elements_of(types);
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < shapes.size() && shapes.size() == names.size(); ++i)
    arguments.emplace_back(shapes[i], names[i]);
  return arguments;
}

}  // namespace

std::int64_t tensor_bytes(std::int64_t elements, std::string_view dtype) {
  std::int64_t bytes = 0;
  if (elements < 0 || __builtin_mul_overflow(elements, type_bytes(dtype), &bytes)) return 0;
  return bytes;
}

std::int64_t tensor_bytes(std::string_view dims, std::string_view types) {
  const std::vector<Argument> arguments = arguments_of(dims, types);
  std::int64_t bytes = 0;
  for (const auto& [shape, type] : arguments) {
    const std::optional<std::int64_t> size = bytes_of(shape, type);
    if (!size || __builtin_add_overflow(bytes, *size, &bytes)) return 0;
  }
  return bytes;
}

std::int64_t argument_bytes(std::string_view dims, std::string_view types, std::size_t argument) {
  const std::vector<Argument> arguments = arguments_of(dims, types);
  if (argument >= arguments.size()) return 0;
  return bytes_of(arguments[argument].first, arguments[argument].second).value_or(0);
}

namespace {

std::string_view find_word(const Details& details, std::string_view key) {
  const std::string_view word = details.find(key);
  return word == "null" ? std::string_view{} : word;
}

std::string_view details_at(const Run& run, std::uint32_t number) {
  return number == kNoDetail ? std::string_view{} : run.details[number];
}

ProcessGroup group_in(const Details& details) {
  return {find_word(details, "Process Group Name"), find_word(details, "Process Group Description"),
          find_word(details, "Process Group Ranks")};
}

// Adds the type and bytes of a collective of Ascend, whose event names the count that HCCL's call
// was given. It is the number of elements of the tensor, or those of one rank's part if ranks
// gather or scatter parts. Other kinds (all-to-all) are not documented well enough to use it.
void add_count(const Details& details, CommunicationPiece& piece) {
  if (details.find("count").empty()) return;
  Collective& what = piece.what;
  what.dtype = find_word(details, "data_type");
  const std::int64_t bytes = tensor_bytes(details.find_integer("count").value_or(0), what.dtype);
  const bool is_whole = is_all_reduce(what.name) || is_broadcast(what.name) || is_send(what.name) ||
                        is_receive(what.name);
  what.bytes_are_part = is_gather(what.name) || is_reduce_scatter(what.name);
  if (is_whole || what.bytes_are_part)
    what.bytes = bytes;
  else
    piece.has_unclear_count = bytes > 0;
}

CommunicationPiece piece_of(const Run& run, std::size_t rank, const HostSpan& span,
                            const Details& details) {
  CommunicationPiece piece;
  piece.start_ns = span.start_ns;
  Collective& what = piece.what;
  const std::string_view name = find_word(details, "Collective name");
  what.name = name.empty() ? kernel_name(run.labels.name(span.label)) : name;
  what.dtype = find_word(details, "dtype");
  what.group = group_in(details);
  what.group_size = details.find_integer("Group size").value_or(0);
  const std::int64_t elements =
      details.find_integer(is_gather(what.name) ? "Out msg nelems" : "In msg nelems").value_or(0);
  what.bytes = tensor_bytes(elements, what.dtype);
  if (what.dtype.empty()) add_count(details, piece);
  what.add({rank, span.start_ns, span.end_ns});
  piece.seq = details.find_integer("Seq").value_or(kNoId);
  if (is_send(what.name))
    piece.peer = details.find_integer("Dst Rank");
  else if (is_receive(what.name))
    piece.peer = details.find_integer("Src Rank");
  return piece;
}

// Returns the bytes of the tensors with which an operator of the host was called.
std::int64_t input_bytes(std::string_view arguments) {
  return tensor_bytes(find_shape(arguments), find_detail(arguments, "Input type"));
}

// Returns "float" for `["float", "Scalar"]`.
std::string_view first_type(std::string_view arguments) {
  std::string_view list = find_detail(arguments, "Input type");
  const std::size_t begin = list.find('"');
  if (begin == std::string_view::npos) return {};
  list.remove_prefix(begin + 1);
  std::string_view type = list.substr(0, list.find('"'));
  if (type.starts_with("c10::")) type.remove_prefix(5);
  return type;
}

// The bytes that go into and come out of a collective on one rank, from torch's operator; 0 if it
// does not show them. If ranks receive parts, its first argument is the output.
struct OpTensors {
  std::int64_t in = 0;
  std::int64_t out = 0;

  // Returns the number of ranks of the group: in a gather all receive the data of each rank, in a
  // scatter it is the other way round.
  std::int64_t ranks() const {
    const auto [less, more] = std::minmax(in, out);
    return less > 0 && more % less == 0 ? more / less : 0;
  }
};

OpTensors tensors_of(const Run& run, const LaunchingRange& op) {
  const std::string_view arguments = details_at(run, op.span.arguments);
  const std::string_view dims = find_detail(arguments, "Input Dims");
  const std::string_view types = find_detail(arguments, "Input type");
  const std::int64_t first = argument_bytes(dims, types, 0);
  if (!is_in_parts(run.labels.name(op.span.label))) return {first, first};
  return {argument_bytes(dims, types, 1), first};
}

// Adds details that the kernel lacks; bytes only if no other kernel shares them. The operator gives
// the output of a gather, and the input if the range has no tensors.
void add_launch(const Run& run, const LaunchedBy& by, CommunicationPiece& piece) {
  Collective& what = piece.what;
  const LaunchingRange* const named = by.range != nullptr ? by.range : by.op;
  if (named == nullptr) return;
  if (!says_what_it_does(what.name)) what.name = run.labels.name(named->span.label);
  if (what.bytes > 0) return;
  OpTensors op = by.op != nullptr ? tensors_of(run, *by.op) : OpTensors{};
  const bool shares_range = by.range != nullptr && by.range->pieces > 1;
  const bool shares_op = by.op != nullptr && by.op->pieces > 1;
  const std::string_view arguments =
      by.range != nullptr ? details_at(run, by.range->span.arguments) : std::string_view{};
  std::int64_t bytes = input_bytes(arguments);
  piece.shares_range = bytes > 0 ? shares_range : op.in > 0 && shares_op;
  if (shares_op) op = {};
  if (what.dtype.empty()) what.dtype = first_type(arguments);
  if (what.dtype.empty() && op.in > 0)
    what.dtype = first_type(details_at(run, by.op->span.arguments));
  if (piece.shares_range) return;
  const bool is_output = is_gather(what.name) && op.out > 0;
  if (bytes == 0) bytes = op.in;
  what.bytes = is_output ? op.out : bytes;
  what.bytes_are_input = !is_output;
  const bool tells_ranks = is_gather(what.name) || is_reduce_scatter(what.name);
  if (what.group_size == 0 && tells_ranks) what.group_size = op.ranks();
}

// Names a batch of messages, which NCCL sends and receives with one kernel. Its record and its
// range say "coalesced" and not who is at the other ends, so that no other rank has the same one.
void name_batch(std::string_view kernel, Collective& what) {
  const bool is_named = is_point_to_point(what.name) || says_what_it_does(what.name);
  if (is_point_to_point(kernel) && !is_named) what.name = "coalesced send/recv";
}

// The kernels that compute on a rank, in the order of their launches.
class LaunchOrder {
 public:
  LaunchOrder(const Run& run, std::size_t rank) {
    run.ranks[rank].for_each_device([&](const DeviceSpan& span) {
      if (span.correlation != kNoId && run.labels.kind(span.label).role == Role::kernel)
        kernels_.emplace_back(span.correlation, span.label);
    });
    std::ranges::sort(kernels_);
  }
  // Returns the label of the last one before that launch.
  std::uint32_t label_before(std::int64_t correlation) const {
    const auto next = std::ranges::lower_bound(kernels_, std::pair(correlation, std::uint32_t{0}));
    return correlation == kNoId || next == kernels_.begin() ? kNoLabel : next[-1].second;
  }

 private:
  std::vector<std::pair<std::int64_t, std::uint32_t>> kernels_;
};

void append_device_pieces(const Run& run, std::size_t rank,
                          std::vector<CommunicationPiece>& pieces) {
  const LaunchingRanges ranges(run, run.ranks[rank]);
  std::optional<LaunchOrder> order;
  for (const EventColumns& part : run.ranks[rank].own_parts())
    for (const DeviceSpan& span : part.devices) {
      if (run.labels.kind(span.label).role != Role::communication) continue;
      CommunicationPiece piece = device_piece(run, rank, span);
      add_launch(run, ranges.find(part, span), piece);
      name_batch(run.labels.name(span.label), piece.what);
      if (is_point_to_point(piece.what.name)) {
        if (!order) order.emplace(run, rank);
        piece.what.after_label = order->label_before(span.correlation);
        piece.what.launch = span.correlation;
      }
      pieces.push_back(std::move(piece));
    }
}

void append_host_pieces(const Run& run, std::size_t rank, std::vector<CommunicationPiece>& pieces) {
  run.ranks[rank].for_each_mark([&](const MarkedSpan& span) {
    if (span.mark != SpanMark::collective) return;
    CommunicationPiece piece = piece_of(run, rank, span, Details({}));
    const std::string_view arguments = details_at(run, span.arguments);
    piece.what.bytes = find_integer(arguments, "bytes").value_or(input_bytes(arguments));
    piece.what.bytes_are_input = true;
    // Names of Horovod have no backend before a colon.
    piece.what.is_launch_only =
        piece.what.name.find(':') != std::string::npos && !works_on_host(piece.what.name);
    piece.own_bytes = piece.what.bytes;
    pieces.push_back(std::move(piece));
  });
}

}  // namespace

CommunicationPiece device_piece(const Run& run, std::size_t rank, const DeviceSpan& span) {
  CommunicationPiece piece = piece_of(run, rank, span, Details(details_at(run, span.detail)));
  piece.own_dtype = piece.what.dtype;
  piece.own_bytes = piece.what.bytes;
  piece.detail = span.detail;
  return piece;
}

ProcessGroup group_at(const Run& run, std::uint32_t detail) {
  return group_in(Details(details_at(run, detail)));
}

std::vector<CommunicationPiece> find_communication(const Run& run, std::size_t rank) {
  std::vector<CommunicationPiece> pieces;
  append_device_pieces(run, rank, pieces);
  if (pieces.empty()) append_host_pieces(run, rank, pieces);
  std::ranges::stable_sort(pieces, {}, &CommunicationPiece::start_ns);
  return pieces;
}

void for_each_communication(
    const Run& run,
    const std::function<void(std::size_t rank, std::vector<CommunicationPiece> pieces)>& use) {
  using Pieces = std::vector<CommunicationPiece>;
  const auto find = [&](std::size_t rank) { return find_communication(run, rank); };
  for_each_rank<Pieces>(run, all_ranks(run), find, [&](std::size_t rank, Pieces pieces) {
    if (!run.ranks[rank].is_here)
      for (CommunicationPiece& piece : pieces) piece.what.group = group_at(run, piece.detail);
    use(rank, std::move(pieces));
  });
}

std::vector<std::int64_t> ranks_in(std::string_view list) {
  if (!is_strict_list(list)) return {};
  std::vector<std::int64_t> ranks;
  const std::vector<std::string_view> elements = elements_of(list);
  for (const std::string_view element : elements)
    if (const std::optional<std::int64_t> rank = parse_number(element)) ranks.push_back(*rank);
  return ranks.size() == elements.size() ? ranks : std::vector<std::int64_t>{};
}

namespace {

// Most pieces are collectives of many ranks: do not read all their details.
bool may_have_peer(const Run& run, const DeviceSpan& span) {
  if (span.detail == kNoDetail) return false;
  const std::string_view details = run.details[span.detail];
  return details.find("Dst Rank") != std::string_view::npos ||
         details.find("Src Rank") != std::string_view::npos;
}

// Returns the numbers in Run::details of the messages of a rank that name their peer by its place.
// One for each group is enough.
std::set<std::uint32_t> details_by_place(const Run& run, std::size_t rank) {
  std::set<std::uint32_t> details;
  std::set<ProcessGroup> groups;
  run.ranks[rank].for_each_device([&](const DeviceSpan& span) {
    if (run.labels.kind(span.label).role != Role::communication) return;
    if (!may_have_peer(run, span)) return;
    const CommunicationPiece piece = device_piece(run, rank, span);
    if (!piece.peer || piece.what.group.ranks.empty()) return;
    const std::vector<std::int64_t> members = ranks_in(piece.what.group.ranks);
    if (*piece.peer == run.ranks[rank].rank ||
        std::find(members.begin(), members.end(), *piece.peer) == members.end())
      if (groups.insert(piece.what.group).second) details.insert(span.detail);
  });
  return details;
}

}  // namespace

MessageRanks::MessageRanks(const Run& run) : ranks_(static_cast<std::int64_t>(run.ranks.size())) {
  using Numbers = std::set<std::uint32_t>;
  const auto find = [&](std::size_t rank) { return details_by_place(run, rank); };
  for_each_rank<Numbers>(run, all_ranks(run), find, [&](std::size_t, const Numbers& details) {
    for (const std::uint32_t detail : details) by_place_.insert(group_at(run, detail));
  });
}

std::optional<MessageEnds> MessageRanks::ends_of(const CommunicationPiece& piece,
                                                 std::int64_t rank) const {
  if (!piece.peer) return std::nullopt;
  std::int64_t peer = *piece.peer;
  const std::vector<std::int64_t> members = ranks_in(piece.what.group.ranks);
  // In the group of all ranks, number and place are the same.
  if (members.empty() && piece.what.group_size != ranks_) return std::nullopt;
  if (by_place_.contains(piece.what.group)) {
    if (peer < 0 || peer >= static_cast<std::int64_t>(members.size())) return std::nullopt;
    peer = members[static_cast<std::size_t>(peer)];
  }
  if (peer == rank) return std::nullopt;
  return is_send(piece.what.name) ? MessageEnds{rank, peer} : MessageEnds{peer, rank};
}

}  // namespace traceloom
