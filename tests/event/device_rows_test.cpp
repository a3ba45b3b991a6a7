#include "event/event.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

RowUse use_of(const char* process, const char* thread) {
  return find_device_row(process, thread).use;
}

}  // namespace

TEST_CASE("device rows: XLA's streams are nearer to the device than its ops, these than modules") {
  CHECK(use_of("/device:GPU:0", "Stream #13(Compute)") == RowUse::work);
  CHECK(find_device_row("/device:GPU:0", "Stream #13(Compute)").level == 3);
  CHECK(find_device_row("/device:GPU:1", "XLA Ops").level == 2);
  CHECK(find_device_row("/device:TPU:0", "XLA Ops").is_nested);
  CHECK(find_device_row("/device:TPU:0", "XLA Modules").level == 1);
  CHECK(find_device_row("/device:TPU:0", "XLA Modules").is_program);
  CHECK(use_of("/device:TPU:0", "Async XLA Ops") == RowUse::transfers);
  CHECK(use_of("/device:TPU:0", "Steps") == RowUse::steps);
  CHECK(use_of("/device:GPU:0", "TensorFlow Name Scope") == RowUse::copy);
  CHECK(use_of("/device:GPU:0", "Framework Ops") == RowUse::copy);
  CHECK(use_of("/device:GPU:0", "something new") == RowUse::unknown);
  CHECK(use_of("/host:CPU", "python") == RowUse::host);
}

TEST_CASE("device rows: Ascend's streams are work, its overlap analysis is a check") {
  CHECK(use_of("Ascend Hardware", "Stream 3") == RowUse::work);
  CHECK(use_of("Overlap Analysis", "Computing") == RowUse::check);
  CHECK(use_of("Overlap Analysis", "Free") == RowUse::check);
  CHECK(use_of("CANN", "Thread 437675") == RowUse::calls);
  CHECK(use_of("HCCL", "Plane 0") == RowUse::communication);
  CHECK(find_device_row("Communication", "Group 0 Communication").level == 2);
  CHECK(find_device_row("HCCL", "Plane 0").level == 1);
}

TEST_CASE("device rows: of TensorFlow 1 the row of all streams is work, the others repeat it") {
  CHECK(use_of("/job:worker/task:0/device:GPU:0/stream:all Compute", "") == RowUse::work);
  CHECK(use_of("/device:GPU:0/stream:14 Compute", "") == RowUse::copy);
  CHECK(use_of("/gpu:0/memcpy Compute", "") == RowUse::copy);
  CHECK(use_of("/job:worker/task:0/device:GPU:0 Compute", "") == RowUse::check);
}

TEST_CASE("device rows: torch's old export and nsys2json name their devices") {
  CHECK(use_of("CUDA functions", "") == RowUse::work);
  CHECK(find_device_row("CUDA functions", "").is_nested);
  CHECK(use_of("CPU functions", "") == RowUse::host);
  CHECK(use_of("Device 1", "Stream 7") == RowUse::work);
  CHECK(use_of("Device 1", "CUDA API 3") == RowUse::calls);
  CHECK(use_of("Device 1", "something new") == RowUse::unknown);
}

TEST_CASE("device rows: names of spans tell of a device if one copies, or all are kernels") {
  const auto use = [](std::initializer_list<const char*> list) {
    SpanNames names;
    for (const char* name : list) names.add(name);
    return find_row_by_spans(names).use;
  };
  CHECK(use({"anything", "[MEMCPY] DtoH"}) == RowUse::work);
  CHECK(use({"[CUDA memset]"}) == RowUse::work);
  CHECK(use({"void cub::DeviceReduce<int>(int)", "ampere_sgemm_128x64_tn"}) == RowUse::work);
  CHECK(use({"void cub::DeviceReduce<int>(int)", "step"}) == RowUse::host);
  CHECK(use({"void App::run<int>(int)"}) == RowUse::host);
}

TEST_CASE("device rows: what looks like a device is unknown, what is a host is none") {
  for (const char* process :
       {"/device:CUSTOM:0", "NPU", "NPU 3", "TPU:0", "tpu0", "HPU", "Gaudi2 card", "GPU 0", "GPU",
        "Some Hardware", "my accelerator", "AIU 0", "Spyre", "PrivateUse1 2",
        "/job:worker/task:0/device:TPU:0 Compute"}) {
    CAPTURE(process);
    CHECK(use_of(process, "") == RowUse::unknown);
  }
  for (const char* process :
       {"", "python3", "GPU Process", "/job:worker/task:0/device:CPU:0 Compute", "/host:CPU",
        "Renderer", "input", "rank 0", "DeviceMonitor thread"}) {
    CAPTURE(process);
    CHECK(use_of(process, "") == RowUse::host);
  }
}

TEST_CASE("device rows: numbers of devices and streams are in their names") {
  CHECK(device_number("/device:GPU:3") == 3);
  CHECK(device_number("/device:TPU:12 (chip)") == 12);
  CHECK(device_number("/job:worker/replica:0/task:1/device:GPU:3/stream:all Compute") == 3);
  CHECK(device_number("/gpu:1 Compute") == 1);
  CHECK(device_number("Device 5") == 5);
  CHECK_FALSE(device_number("NPU 7"));
  CHECK_FALSE(device_number("Ascend Hardware 800"));
  CHECK(stream_number("Stream #13(Compute)") == 13);
  CHECK(stream_number("Stream 3") == 3);
  CHECK_FALSE(stream_number("XLA Ops"));
}
