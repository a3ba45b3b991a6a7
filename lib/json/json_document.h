// JsonDocument: a JSON value that is no event, read as a whole by simdjson: args of metadata,
// values next to the event list, notes of earlier merges, baselines.
//
//   const JsonDocument args(event.text(Key::args));
//   const std::string name = args["name"].string();
//   for (const JsonValue device : args["devices"].elements()) add(device["id"].integer());
//
// simdjson refuses a text for one fault in it, and traces have faults: raw control characters,
// bytes that are not UTF-8, a comma too many. Such a text is walked in place (json_walk.h) as far
// as that understands it. Values stay text until they are asked for, so a number has all of its
// digits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// A value in the text of a document, in preorder: the values inside it follow.
struct JsonNode {
  std::uint32_t key_begin = 0;
  std::uint32_t key_size = 0;
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
  std::uint32_t nodes = 1;  // itself and all that follow inside it
};

// A value of a document, which must live as long. A default JsonValue is one that is not there: its
// text is empty, and it has nothing in it.
class JsonValue {
 public:
  class Range;

  JsonValue() = default;
  JsonValue(const char* document, const JsonNode* node) : document_(document), node_(node) {}

  bool is_there() const { return !text().empty(); }
  bool is_object() const { return text().starts_with('{'); }
  bool is_list() const { return text().starts_with('['); }
  bool is_string() const { return text().starts_with('"'); }

  // The value as it is written in the document.
  std::string_view text() const {
    return node_ == nullptr ? std::string_view()
                            : std::string_view(document_ + node_->begin, node_->size);
  }
  // The text between the quotes of its key, as written; empty in a list.
  std::string_view key() const {
    return node_ == nullptr ? std::string_view()
                            : std::string_view(document_ + node_->key_begin, node_->key_size);
  }
  // A whole number as json_integer() reads it, and the characters as decoded() gives them.
  std::optional<std::int64_t> integer() const;
  std::string string() const;

  // Returns the last member with that key, however the key is written. It is not there if there is
  // none, or if this is no object.
  JsonValue operator[](std::string_view key) const;
  // Members of an object, elements of a list; empty for everything else.
  Range members() const;
  Range elements() const;

 private:
  Range inside() const;

  const char* document_ = nullptr;
  const JsonNode* node_ = nullptr;
};

// The values inside a value, in the order of the text.
class JsonValue::Range {
 public:
  class Iterator {
   public:
    Iterator(const char* document, const JsonNode* node) : document_(document), node_(node) {}
    JsonValue operator*() const { return {document_, node_}; }
    Iterator& operator++() {
      node_ += node_->nodes;
      return *this;
    }
    bool operator==(const Iterator& other) const { return node_ == other.node_; }

   private:
    const char* document_;
    const JsonNode* node_;
  };

  Range(Iterator begin, Iterator end) : begin_(begin), end_(end) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }
  bool empty() const { return begin_ == end_; }

 private:
  Iterator begin_;
  Iterator end_;
};

class JsonDocument {
 public:
  // Reads `text`, which is not copied: texts of values are parts of it, and may be used when the
  // document is gone. A text that is empty or has 4 GiB gives a document without a value.
  explicit JsonDocument(std::string_view text);

  JsonValue root() const {
    return nodes_.empty() ? JsonValue() : JsonValue(text_.data(), nodes_.data());
  }
  JsonValue operator[](std::string_view key) const { return root()[key]; }

 private:
  std::string_view text_;
  std::vector<JsonNode> nodes_;
};

}  // namespace traceloom
