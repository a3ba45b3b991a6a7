#include "bench/operator_args.h"

#include <initializer_list>

namespace traceloom::bench {
namespace {

constexpr std::int64_t kBatch = 16;
constexpr std::int64_t kHidden = 1024;
constexpr std::int64_t kInner = 2816;
constexpr std::int64_t kHeads = 16;
constexpr std::int64_t kWeightsOfLayer = 7;

using Numbers = std::initializer_list<std::int64_t>;

void write_numbers(TextOutput& out, Numbers numbers) {
  out << "[";
  for (const std::int64_t& number : numbers) {
    if (&number != numbers.begin()) out << ", ";
    out << number;
  }
  out << "]";
}

void write_weights(TextOutput& out, Numbers numbers, std::int64_t layers) {
  out << "[";
  for (std::int64_t i = 0; i < layers * kWeightsOfLayer; ++i) {
    if (i != 0) out << ", ";
    write_numbers(out, numbers);
  }
  out << "]";
}

void write_pair(TextOutput& out, Numbers numbers) {
  out << "[";
  write_numbers(out, numbers);
  out << ", ";
  write_numbers(out, numbers);
  out << "]";
}

void write_dims(TextOutput& out, char input, const TensorSizes& sizes) {
  const std::int64_t length = sizes.sequence_length;
  switch (input) {
    case 'T':
      return write_numbers(out, {kBatch, length, kHidden});
    case 'M':
      return write_numbers(out, {kBatch * length, kHidden});
    case 'F':
      return write_numbers(out, {kBatch, length, kInner});
    case 'H':
      return write_numbers(out, {kBatch, kHeads, length, kHidden / kHeads});
    case 'P':
      return write_pair(out, {kBatch, kHeads, length, kHidden / kHeads / 2});
    case 'W':
      return write_numbers(out, {kInner, kHidden});
    case 'N':
      return write_numbers(out, {kHidden});
    case 'G':
      return write_weights(out, {kInner, kHidden}, sizes.layers);
    default:
      return write_numbers(out, {});
  }
}

void write_strides(TextOutput& out, char input, const TensorSizes& sizes) {
  const std::int64_t length = sizes.sequence_length;
  switch (input) {
    case 'T':
      return write_numbers(out, {length * kHidden, kHidden, 1});
    case 'F':
      return write_numbers(out, {length * kInner, kInner, 1});
    case 'H':
      return write_numbers(out, {length * kHidden, kHidden / kHeads, kHidden, 1});
    case 'P':
      return write_pair(out, {length * kHidden, kHidden / kHeads, kHidden, 1});
    case 'M':
    case 'W':
      return write_numbers(out, {kHidden, 1});
    case 'N':
      return write_numbers(out, {1});
    case 'G':
      return write_weights(out, {kHidden, 1}, sizes.layers);
    default:
      return write_numbers(out, {});
  }
}

void write_type(TextOutput& out, char input) {
  switch (input) {
    case 'P':
    case 'G':
      out << "\"TensorList\"";
      return;
    case 'N':
      out << "\"float\"";
      return;
    case 's':
      out << "\"Scalar\"";
      return;
    case 'L':
      out << "\"ScalarList\"";
      return;
    case 'n':
      out << "\"\"";
      return;
    default:
      out << "\"c10::BFloat16\"";
  }
}

void write_value(TextOutput& out, char input, std::size_t position, const TensorSizes& sizes) {
  constexpr std::string_view kScalars[] = {
      "1", "-1", "15", "False", "0.125", "True", "9.9999999999999995e-07"};
  out << "\"";
  if (input == 's') out << kScalars[position % std::size(kScalars)];
  if (input == 'L') write_numbers(out, {kBatch, sizes.sequence_length, -1, kHidden / kHeads});
  out << "\"";
}

template <typename Write>
void write_each(TextOutput& out, std::string_view key, std::string_view inputs, Write write) {
  out << key << "[";
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i != 0) out << ", ";
    write(i);
  }
  out << "]";
}

}  // namespace

void write_inputs(TextOutput& out, std::string_view inputs, const TensorSizes& sizes) {
  write_each(out, "\"Concrete Inputs\": ", inputs,
             [&](std::size_t i) { write_value(out, inputs[i], i, sizes); });
  write_each(out, ", \"Input type\": ", inputs, [&](std::size_t i) { write_type(out, inputs[i]); });
  write_each(out, ", \"Input Strides\": ", inputs,
             [&](std::size_t i) { write_strides(out, inputs[i], sizes); });
  write_each(out, ", \"Input Dims\": ", inputs,
             [&](std::size_t i) { write_dims(out, inputs[i], sizes); });
}

}  // namespace traceloom::bench
