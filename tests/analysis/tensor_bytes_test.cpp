#include "analysis/collectives/collectives.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("tensor_bytes: the tensors among the arguments, and no numbers") {
  CHECK(tensor_bytes("[[2, 3], []]", R"(["float", "Scalar"])") == 24);
  CHECK(tensor_bytes("[[53120]]", R"(["long int"])") == 424'960);
  CHECK(tensor_bytes("[[4],[2, 2]]", R"(["c10::BFloat16","unsigned char"])") == 12);
  CHECK(tensor_bytes("[]", "[]") == 0);
  CHECK(tensor_bytes("[[0, 5]]", R"(["double"])") == 0);
}

TEST_CASE("tensor_bytes: several tensors of one argument are added, not multiplied") {
  CHECK(tensor_bytes("[[[2, 3], [4]]]", R"(["float"])") == 40);
  CHECK(tensor_bytes("[[[2, 3], [4]], [1]]", R"(["float", "half"])") == 42);
}

TEST_CASE("tensor_bytes: of a type that is not known all is unknown, not a part") {
  CHECK(tensor_bytes("[[[10]], [5]]", R"(["TensorList", "float"])") == 0);
  CHECK(tensor_bytes("[[10], [5]]", R"(["", "float"])") == 0);
  CHECK(tensor_bytes("[[10], [5]]", R"([null, "float"])") == 0);
}

TEST_CASE("tensor_bytes: what is no list of sizes is unknown") {
  const char* const type = R"(["float"])";
  for (const char* dims :
       {"", "null", "53120", "[", "]", "[[2, 3]", "[2, 3]]", "[[2, 3]]]", "[[-1, 3]]",
        "[[2, null]]", "[[2.5]]", "[[2,, 3]]", "[[\"2\"]]", "[[2 3]]", "[[9223372036854775807, 2]]",
        "[[[2], 3]]", "[[2, [3]]]", "[[2], [3]]", "{\"a\": 1}"}) {
    CAPTURE(dims);
    CHECK(tensor_bytes(dims, type) == 0);
  }
  for (const char* types :
       {"", "null", "[", "[\"float\"", "[\"float]", "\"float\"", "[[\"float\"]]"}) {
    CAPTURE(types);
    CHECK(tensor_bytes("[[2]]", types) == 0);
  }
}

TEST_CASE("tensor_bytes: commas and brackets in a string are no list's") {
  CHECK(tensor_bytes("[[2], [3]]", R"(["a, \"]b", "float"])") == 0);
  CHECK(tensor_bytes("[[], [3]]", R"(["a, \"]b", "float"])") == 12);
}

TEST_CASE("tensor_bytes: of elements, unless that is no size") {
  CHECK(tensor_bytes(1000, "BFloat16") == 2000);
  CHECK(tensor_bytes(1000, "nothing known") == 0);
  CHECK(tensor_bytes(-1, "Float") == 0);
  CHECK(tensor_bytes(std::int64_t{1} << 62, "Double") == 0);
}
