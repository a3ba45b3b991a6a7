#include "base/json_string.h"
#include "scan/event_shapes.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

using namespace traceloom;

namespace {

const std::string kRoomBehind(KnownLists::kRoom, ' ');

// Returns the length that find() recognises in `text` as a known list; 0 for none.
std::size_t known(KnownLists& lists, const std::string& text) {
  const char* const behind = lists.find(text.data(), text.data() + text.size());
  return behind == nullptr ? 0 : static_cast<std::size_t>(behind - text.data());
}

void learn(KnownLists& lists, const std::string& text, std::size_t size) {
  lists.learn(text.data(), text.data() + size, text.data() + text.size());
}

}  // namespace

TEST_CASE("a list is known once it has been met, whatever its neighbours") {
  KnownLists lists;
  const std::string list = "[[4, 1024, 768], [768, 768], []]";
  CHECK(known(lists, list + ", " + kRoomBehind) == 0);
  learn(lists, list + ", " + kRoomBehind, list.size());
  CHECK(known(lists, list + ", " + kRoomBehind) == list.size());
  CHECK(known(lists, list + "}}" + kRoomBehind) == list.size());
  CHECK(known(lists, "[[4, 1024, 768], [768, 768], [1]" + kRoomBehind) == 0);
  CHECK(known(lists, "[[4, 1024, 769], [768, 768], []]" + kRoomBehind) == 0);
}

TEST_CASE("lists from 2 to 128 bytes are kept, longer ones are not") {
  for (std::size_t size = 2; size <= 140; ++size) {
    CAPTURE(size);
    KnownLists lists;
    const std::string list = "[" + std::string(size - 2, '1') + "]";
    learn(lists, list + kRoomBehind, size);
    CHECK(known(lists, list + kRoomBehind) == (size <= 128 ? size : 0));
  }
}

TEST_CASE("of lists that begin alike the four that were met last are known") {
  const auto list = [](int last) {
    return "[[4, 1024, 768], [768, 768], [" + std::to_string(last) + "]]" + kRoomBehind;
  };
  const std::size_t size = list(0).size() - kRoomBehind.size();
  KnownLists lists;
  for (const int last : {1, 2, 3, 4}) learn(lists, list(last), size);
  for (const int last : {4, 2, 3, 1}) CHECK(known(lists, list(last)) == size);
  learn(lists, list(5), size);
  CHECK(known(lists, list(4)) == 0);
  for (const int last : {5, 3, 2, 1}) CHECK(known(lists, list(last)) == size);
  learn(lists, list(6), size);
  CHECK(known(lists, list(5)) == 0);
}

TEST_CASE("where fewer than 128 bytes are left nothing is looked up and nothing kept") {
  KnownLists lists;
  const std::string list = "[1, 2]";
  const std::string short_by_one = list + std::string(KnownLists::kRoom - 1 - list.size(), ' ');
  learn(lists, short_by_one, list.size());
  CHECK(known(lists, list + kRoomBehind) == 0);
  learn(lists, list + kRoomBehind, list.size());
  CHECK(known(lists, short_by_one) == 0);
  CHECK(known(lists, short_by_one + " ") == list.size());
}

TEST_CASE("what is found is what reading finds, in any order of many lists") {
  std::mt19937 random(7);
  KnownLists lists;
  std::size_t found = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = "[";
    for (std::size_t i = random() % 9; i > 0; --i)
      text += std::to_string(random() % 3) + (i == 1 ? "" : ", ");
    text += random() % 5 == 0 ? "}" : "]";  // a few texts are no lists
    text += random() % 2 == 0 ? ", \"x\"" : "]]]]";
    text += kRoomBehind;
    const char* const end = text.data() + text.size();
    const char* const read = skip_strict_value(text.data(), end);
    if (const char* const behind = lists.find(text.data(), end)) {
      CHECK(behind == read);
      ++found;
    } else if (read != nullptr) {
      lists.learn(text.data(), read, end);
    }
  }
  CHECK(found > 2'000);
}
