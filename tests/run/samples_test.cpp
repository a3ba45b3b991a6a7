#include "run/event_columns.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("samples: a memory event tells bytes, device, address and totals") {
  const auto sample = read_memory_sample(
      R"({"Device Type": 1, "Device Id": 3, "Bytes": -512, "Addr": 140, "Total Allocated": 1024})");
  REQUIRE(sample.has_value());
  CHECK(sample->device_type == 1);
  CHECK(sample->device == 3);
  CHECK(sample->bytes == -512);
  CHECK(sample->address == 140);
  CHECK(sample->allocated == 1024);
  CHECK(sample->reserved == kNotGiven);
  CHECK_FALSE(read_memory_sample(R"({"Device Type": 1})").has_value());
  CHECK_FALSE(read_memory_sample("").has_value());
  CHECK_FALSE(read_memory_sample(R"({"Bytes": 9223372036854775807})").has_value());
}

TEST_CASE("samples: a counter has numbers, also in quotes, and finite ones only") {
  CHECK(read_counter_value("1.5e3") == 1500.0);
  CHECK(read_counter_value("\"-7\"") == -7.0);
  for (const char* text :
       {"\"\"", "true", "null", "nan", "inf", "1e999", "1e101", "-1e300", "12x", "{}", ""}) {
    CAPTURE(text);
    CHECK_FALSE(read_counter_value(text).has_value());
  }
}

TEST_CASE("samples: devices of memory have names") {
  CHECK(memory_device_name(0, -1) == "CPU");
  CHECK(memory_device_name(1, 0) == "GPU0");
  CHECK(memory_device_name(6, 7) == "GPU7");
  CHECK(memory_device_name(42, 1) == "device 42:1");
}

TEST_CASE("samples: are read when asked for, in the times of the run and the time asked for") {
  const std::string text = TraceText()
                               .x("first", 1000, 5)
                               .c("loss", 1010, R"({"loss": 2.5, "what": "no number"})")
                               .c("loss", 1030, R"({"loss": 2})")
                               .i("[memory]", 1020, R"({"Bytes": 4})")
                               .i("[memory]", 1020, R"({"Other": 4})")
                               .i("other", 1020, R"({"Bytes": 4})")
                               .array();
  const auto count = [](const Run& run) {
    int samples = 0;
    run.ranks.at(0).for_each_counter([&](const CounterSample&) { ++samples; });
    run.ranks.at(0).for_each_memory([&](const MemorySample&) { ++samples; });
    return samples;
  };
  CHECK(count(read_texts({{"rank0.json", text}})) == 0);
  const Run run = read_texts({{"rank0.json", text}}, {.samples = true});
  CHECK(count(run) == 3);
  run.ranks[0].for_each_memory(
      [](const MemorySample& sample) { CHECK(sample.start_ns == 20'000); });
  const CounterSample& loss = run.ranks[0].parts.at(0).counters.at(0);
  CHECK(loss.start_ns == 10'000);
  CHECK(loss.value == 2.5);
  CHECK(run.labels.name(loss.label) == "loss");
  CHECK(run.details[loss.key] == "loss");
  const Run part =
      read_texts({{"rank0.json", text}},
                 {.time = TimeSelection{std::int64_t{15'000}, std::nullopt}, .samples = true});
  CHECK(count(part) == 2);
}

TEST_CASE("samples: counters of one name and several ids are several") {
  const Run run =
      read_texts({{"rank0.json",
                   "["
                   R"({"ph": "C", "name": "n", "ts": 1, "pid": 1, "id": "7", "args": {"v": 1}},)"
                   R"({"ph": "C", "name": "n", "ts": 1, "pid": 1, "id": 8, "args": {"v": 2}}])"}},
                 {.samples = true});
  const std::vector<CounterSample>& samples = run.ranks.at(0).parts.at(0).counters;
  CHECK(run.details[samples.at(0).key] == "[7] v");
  CHECK(run.details[samples.at(1).key] == "[8] v");
}
