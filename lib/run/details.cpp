#include "run/details.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace traceloom {
namespace {

constexpr std::string_view kDetails[] = {"grid",
                                         "block",
                                         "registers per thread",
                                         "shared memory",
                                         "blocks per SM",
                                         "est. achieved occupancy %",
                                         "bytes",
                                         "size",
                                         "direction",
                                         "memory bandwidth (GB/s)",
                                         "Collective name",
                                         "dtype",
                                         "In msg nelems",
                                         "Out msg nelems",
                                         "Group size",
                                         "Process Group Name",
                                         "Process Group Description",
                                         "Process Group Ranks",
                                         "Seq",
                                         "Src Rank",
                                         "Dst Rank",
                                         "In split size",
                                         "Out split size"};
constexpr std::string_view kArguments[] = {"Input Dims", "Input dims", "Input type",
                                           "Input Strides", "Concrete Inputs"};
// These stand after a key and after its value: neither character occurs raw in a string of JSON.
constexpr char kBehindKey = '\t';
constexpr char kBehindValue = '\n';

template <typename Number>
std::optional<Number> read_number(std::string_view text) {
  Number number{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

// Leaves out separators in a value, which would end it. Pretty-printed JSON contains them, and so
// do strings that are not JSON.
void append_line(std::string& text, std::string_view value) {
  for (const char c : value)
    if (c != kBehindKey && c != kBehindValue) text += c;
}

// Writes "[4, 1, 1]" whatever white space is between the elements, so that equal lists have equal
// texts. White space in strings (["long int"]) stays.
void append_list(std::string& text, std::string_view list) {
  bool in_string = false;
  for (const char c : list) {
    if (c == '"') in_string = !in_string;
    if (in_string && c != kBehindKey && c != kBehindValue) {
      text += c;
      continue;
    }
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    text += c;
    if (c == ',') text += ' ';
  }
}

}  // namespace

bool is_detail(std::string_view key) {
  return std::find(std::begin(kDetails), std::end(kDetails), key) != std::end(kDetails);
}

bool is_transfer_detail(std::string_view key) {
  return key == "data_type" || key == "count";
}

bool is_argument(std::string_view key) {
  return std::find(std::begin(kArguments), std::end(kArguments), key) != std::end(kArguments);
}

void append_detail(std::string& text, std::string_view key, std::string_view value) {
  text.append(key) += kBehindKey;
  if (!value.empty() && value.front() == '[')
    append_list(text, value);
  else
    append_line(text, value);
  text += kBehindValue;
}

std::string_view find_detail(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t middle = std::min(text.find(kBehindKey), text.size());
    const std::size_t end = std::min(text.find(kBehindValue, middle), text.size());
    if (text.substr(0, middle) == key && middle < end) {
      std::string_view value = text.substr(middle + 1, end - middle - 1);
      if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
      return value;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::optional<double> find_number(std::string_view text, std::string_view key) {
  return read_number<double>(find_detail(text, key));
}

std::optional<std::int64_t> find_integer(std::string_view text, std::string_view key) {
  return read_number<std::int64_t>(find_detail(text, key));
}

}  // namespace traceloom
