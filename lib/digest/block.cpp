#include "digest/block.h"

#include "base/string_table.h"
#include "digest/frames.h"
#include "digest/records.h"
#include "digest/value_model.h"

#include <zlib.h>

#include <deque>
#include <vector>

namespace traceloom::digest {
namespace {

// A block: the bytes of its text; the forms and then the texts of values, each once, deflated; and
// the coded values of the records, in order: the number of a form, and its values.

// A list has each text once, with its length.
constexpr std::size_t kMostListBytes = 3 * kMostBlockBytes;
// A column takes some 150 bytes of memory. After so many, a record is one text.
constexpr std::size_t kMostColumns = std::size_t{1} << 17;

void put_list(std::string& bytes, const std::string& list) {
  uLongf size = compressBound(list.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
            reinterpret_cast<const Bytef*>(list.data()), list.size(), Z_BEST_COMPRESSION);
  put_number(bytes, list.size());
  put_text(bytes, std::string_view(packed).substr(0, size));
}

std::optional<std::string> read_list(ByteReader& reader) {
  const std::uint64_t size = reader.number();
  const std::string_view packed = reader.text();
  if (reader.failed() || size > kMostListBytes) return std::nullopt;
  std::string list(size, '\0');
  uLongf got = size;
  const int result = uncompress(reinterpret_cast<Bytef*>(list.data()), &got,
                                reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (result != Z_OK || got != size) return std::nullopt;
  return list;
}

// The forms so far, in both directions.
class Forms {
 public:
  std::uint32_t size() const { return static_cast<std::uint32_t>(forms_.size()); }
  std::size_t columns() const { return columns_; }
  Form& operator[](std::uint32_t form) { return forms_[form]; }
  Keys& keys() { return keys_; }

  void add(std::string_view text) {
    forms_.emplace_back(text, static_cast<std::uint32_t>(columns_), keys_);
    columns_ += forms_.back().columns.size();
  }

 private:
  Keys keys_;
  std::deque<Form> forms_;
  std::size_t columns_ = 0;
};

class BlockEncoder {
 public:
  std::string encode(std::string_view text) {
    std::string packed;
    put_number(packed, text.size());
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::string_view before = rest;
      read_record(rest, record_);
      if (forms_.columns() + record_.values() > kMostColumns)
        make_text(before.substr(0, before.size() - rest.size()));
      add_record();
    }
    put_list(packed, form_list_);
    put_list(packed, text_list_);
    return packed += coder_.finish();
  }

 private:
  // Makes a record of one text.
  void make_text(std::string_view text) {
    record_.form = kTextMark;
    record_.texts = {text};
    record_.numbers.clear();
    record_.ulps.clear();
    record_.lists.clear();
  }

  void add_record() {
    const std::uint32_t known = forms_.size();
    const std::uint32_t number = form_texts_.intern(record_.form);
    if (number == known) {
      put_text(form_list_, record_.form);
      forms_.add(form_texts_[number]);
    }
    model_.form(number, known);
    auto text = record_.texts.begin();
    auto decimal = record_.numbers.begin();
    auto ulps = record_.ulps.begin();
    auto list = record_.lists.begin();
    for (Column& column : forms_[number].columns) {
      if (column.mark == kTextMark) {
        add_text(column, *text++);
      } else if (column.mark == kListMark) {
        model_.list(column, *list, kMostListed);
        ++list;
      } else {
        model_.number(column, *decimal++);
        if (column.mark == kMultipleMark) model_.ulps(column, *ulps++);
      }
    }
  }

  void add_text(Column& column, std::string_view text) {
    const auto known = static_cast<std::uint32_t>(texts_.size());
    const std::uint32_t number = texts_.intern(text);
    if (number == known) put_text(text_list_, text);
    model_.text(column, number, known);
  }

  StringTable form_texts_;
  StringTable texts_;
  std::string form_list_;
  std::string text_list_;
  Forms forms_;
  RangeEncoder coder_;
  ValueModel<RangeEncoder> model_{coder_, forms_.keys()};
  Record record_;
};

class BlockDecoder {
 public:
  BlockDecoder(std::string_view form_list, std::string_view text_list, std::string_view coded)
      : form_list_(form_list), text_list_(text_list), coder_(coded) {}

  std::optional<std::string> decode(std::size_t size) {
    text_.reserve(size);
    while (text_.size() < size)
      if (!add_record(size)) return std::nullopt;
    return std::move(text_);
  }

 private:
  // Returns false if this is no record, or one of no text, or too long.
  bool add_record(std::size_t most) {
    const std::size_t before = text_.size();
    const std::uint32_t known = forms_.size();
    const std::uint32_t number = model_.form(0, known);
    if (number > known) return false;
    if (number == known) forms_.add(form_list_.text());
    if (form_list_.failed() || forms_.columns() > 2 * kMostColumns) return false;
    Form& form = forms_[number];
    for (Column& column : form.columns) {
      text_ += column.literal;
      if (!add_value(column)) return false;
      if (text_.size() > most) return false;
    }
    text_ += form.end;
    return text_.size() > before && text_.size() <= most;
  }

  bool add_value(Column& column) {
    if (column.mark == kTextMark) return add_text(column);
    if (column.mark == kListMark) return add_list(column);
    const Decimal decimal = model_.number(column, {});
    if (column.mark == kTickMark)
      append_tick(decimal.digits, text_);
    else if (column.mark == kMultipleMark)
      append_double(number_of({column.unit, decimal.digits, model_.ulps(column, 0)}), text_);
    else
      append_decimal(decimal, text_);
    return true;
  }

  bool add_list(Column& column) {
    const std::vector<std::int64_t> list = model_.list(column, {}, kMostListed);
    char separator = '[';
    for (const std::int64_t number : list) {
      text_ += separator;
      append_decimal({number, 0}, text_);
      separator = ',';
    }
    text_ += ']';
    return !list.empty();
  }

  bool add_text(Column& column) {
    const auto known = static_cast<std::uint32_t>(texts_.size());
    const std::uint32_t number = model_.text(column, 0, known);
    if (number > known) return false;
    if (number == known) texts_.push_back(text_list_.text());
    text_ += texts_[number];
    return !text_list_.failed();
  }

  ByteReader form_list_;
  ByteReader text_list_;
  RangeDecoder coder_;
  Forms forms_;
  ValueModel<RangeDecoder> model_{coder_, forms_.keys()};
  std::vector<std::string_view> texts_;
  std::string text_;
};

}  // namespace

std::string encode_block(std::string_view text) {
  return BlockEncoder().encode(text);
}

std::optional<std::string> decode_block(std::string_view packed) {
  ByteReader reader(packed);
  const std::uint64_t size = reader.number();
  if (size > kMostBlockBytes) return std::nullopt;
  const std::optional<std::string> forms = read_list(reader);
  if (!forms) return std::nullopt;
  const std::optional<std::string> texts = read_list(reader);
  if (!texts) return std::nullopt;
  return BlockDecoder(*forms, *texts, reader.rest()).decode(size);
}

}  // namespace traceloom::digest
