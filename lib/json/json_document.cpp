#include "json/json_document.h"

#include "base/json_string.h"
#include "base/json_walk.h"
#include "event/event.h"

#include <simdjson.h>

#include <limits>

namespace traceloom {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::string_view kSpace = " \n\t\r";

std::string_view without_space_after(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

// A parser keeps buffers of the size of the largest text that it has read, so one for all documents
// of a thread reads small ones only.
ondemand::parser& parser_for(std::string_view text, ondemand::parser& own) {
  constexpr std::size_t kSmall = std::size_t{64} << 10;
  static thread_local ondemand::parser shared;
  return text.size() <= kSmall ? shared : own;
}

// Walks over a whole document of simdjson and notes where its values stand. Throws simdjson_error
// where the text is no JSON. simdjson does not read numbers and words before somebody asks for
// them: what is no number stays text here, too.
class NodeReader {
 public:
  NodeReader(ondemand::document& document, std::string_view text, std::vector<JsonNode>& nodes)
      : document_(document), begin_(text.data()), end_(text.data() + text.size()), nodes_(nodes) {}

  void read_all() {
    read(document_.get_value(), {}, 0);
    nodes_.front().size = static_cast<std::uint32_t>(end_ - begin_);  // white space after it, too
    if (position() != end_) throw simdjson::simdjson_error(simdjson::TAPE_ERROR);
  }

 private:
  void read(ondemand::value value, std::string_view key, std::size_t depth) {
    const std::size_t place = nodes_.size();
    const std::string_view token = value.raw_json_token();
    nodes_.push_back({key.empty() ? 0 : offset(key.data()), static_cast<std::uint32_t>(key.size()),
                      offset(token.data())});
    std::string_view whole = token;
    if (is_json_object(token) || is_json_list(token)) {
      read_inside(value, token.front(), depth);
      whole = {token.data(), position()};
    } else {
      check_scalar(value, without_space_after(token));
    }
    nodes_[place].size = static_cast<std::uint32_t>(without_space_after(whole).size());
    nodes_[place].nodes = static_cast<std::uint32_t>(nodes_.size() - place);
  }

  void read_inside(ondemand::value& value, char bracket, std::size_t depth) {
    if (depth == kMaxJsonDepth) throw simdjson::simdjson_error(simdjson::DEPTH_ERROR);
    if (bracket == '{') {
      for (ondemand::field field : value.get_object())
        read(field.value(), key_of(field), depth + 1);
    } else {
      for (const ondemand::value element : value.get_array()) read(element, {}, depth + 1);
    }
  }

  // simdjson takes any text up to the next comma or bracket for a number or word. A string has to
  // be taken, or simdjson would pass over what follows it as if it were a key.
  static void check_scalar(ondemand::value& value, std::string_view token) {
    constexpr std::string_view kOfWords =
        "0123456789+-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const bool is_string = token.starts_with('"');
    if (is_string) static_cast<void>(value.get_raw_json_string().value());
    if (is_string ? !token.ends_with('"')
                  : token.empty() || token.find_first_not_of(kOfWords) != std::string_view::npos)
      throw simdjson::simdjson_error(simdjson::TAPE_ERROR);
  }

  std::uint32_t offset(const char* at) const { return static_cast<std::uint32_t>(at - begin_); }

  // The next token, or the end of the text: only white space stands before it.
  const char* position() {
    const char* at = end_;
    return document_.current_location().get(at) == simdjson::SUCCESS ? at : end_;
  }

  static std::string_view key_of(ondemand::field& field) {
    const char* const begin = field.key().raw();
    const char* end = begin;
    while (*end != '"') end += *end == '\\' ? 2 : 1;
    return {begin, end};
  }

  ondemand::document& document_;
  const char* begin_;
  const char* end_;
  std::vector<JsonNode>& nodes_;
};

// Returns no nodes if simdjson refuses the text.
std::vector<JsonNode> read_nodes(std::string_view text) {
  std::vector<JsonNode> nodes;
  try {
    const simdjson::padded_string padded(text);
    ondemand::parser own;
    ondemand::document document = parser_for(text, own).iterate(padded);
    NodeReader(document, padded, nodes).read_all();
  } catch (const simdjson::simdjson_error&) {
    nodes.clear();
  }
  return nodes;
}

// Reads a broken text as far as a walk in place understands it. Values that nest deeper than any
// note stay text: the walk reads the text anew for each level.
void walk_nodes(std::string_view document, std::string_view key, std::string_view value,
                std::size_t depth, std::vector<JsonNode>& nodes) {
  constexpr std::size_t kMostLevels = 16;
  const auto offset = [&](std::string_view part) {
    return part.data() == nullptr ? 0 : static_cast<std::uint32_t>(part.data() - document.data());
  };
  const std::size_t place = nodes.size();
  nodes.push_back({offset(key), static_cast<std::uint32_t>(key.size()), offset(value),
                   static_cast<std::uint32_t>(value.size())});
  if (depth == kMostLevels) return;
  for (JsonWalk walk(value); walk.next();)
    walk_nodes(document, walk.key(), walk.value(), depth + 1, nodes);
  nodes[place].nodes = static_cast<std::uint32_t>(nodes.size() - place);
}

}  // namespace

std::optional<std::int64_t> JsonValue::integer() const {
  return json_integer(text());
}

std::string JsonValue::string() const {
  return decoded(text());
}

JsonValue JsonValue::operator[](std::string_view key) const {
  JsonValue found;
  for (const JsonValue member : members())
    if (is_json_key(member.key(), key)) found = member;
  return found;
}

JsonValue::Range JsonValue::members() const {
  return is_object() ? inside() : Range({nullptr, nullptr}, {nullptr, nullptr});
}

JsonValue::Range JsonValue::elements() const {
  return is_list() ? inside() : Range({nullptr, nullptr}, {nullptr, nullptr});
}

JsonValue::Range JsonValue::inside() const {
  return {{document_, node_ + 1}, {document_, node_ + node_->nodes}};
}

JsonDocument::JsonDocument(std::string_view text) : text_(text) {
  if (text.empty() || text.size() >= std::numeric_limits<std::uint32_t>::max()) return;
  if (is_json_object(text) || is_json_list(text)) nodes_ = read_nodes(text);
  if (nodes_.empty()) walk_nodes(text, {}, text, 0, nodes_);
}

}  // namespace traceloom
