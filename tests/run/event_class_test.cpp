#include "run/event_class.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("event class: device work goes by its category, in any case of letters") {
  CHECK(classify("gemm", "kernel").place == EventPlace::device);
  CHECK(classify("gemm", "Kernel").role == Role::kernel);
  CHECK(classify("Memcpy HtoD", "gpu_memcpy").role == Role::memcpy);
  CHECK(classify("Memset (Device)", "Memset").role == Role::memset);
  CHECK(classify("gemm", "foo,kernel").place == EventPlace::device);
}

TEST_CASE("event class: copies of MTIA's devices are no kernels, their waits and marks no work") {
  const auto role = [](const char* name) { return classify(name, "mtia_ccp_events").role; };
  const auto place = [](const char* name) { return classify(name, "mtia_ccp_events").place; };
  CHECK(role("pe_exe") == Role::kernel);
  CHECK(role("dma_request") == Role::memcpy);
  CHECK(place("dma_request") == EventPlace::device);
  CHECK(place("event_wait") == EventPlace::nowhere);
  CHECK(place("event_record") == EventPlace::nowhere);
  CHECK(classify("event_wait", "kernel").role == Role::kernel);
}

TEST_CASE("event class: kernels of all libraries of collectives are communication") {
  for (const char* name :
       {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", "ncclDevKernel_AllGather_RING_LL",
        "rcclGenericKernel", "void deep_ep::intranode::dispatch<...>", "nvshmemi_kernel",
        "void vllm::cross_device_reduce_1stage<...>", "multimem_all_reduce_kernel<c10::BFloat16>",
        "allreduce_fusion_kernel_oneshot_lamport", "mscclpp_kernel"}) {
    CAPTURE(name);
    CHECK(classify(name, "kernel").role == Role::communication);
  }
  CHECK(classify("void at::native::reduce_kernel<512>", "kernel").role == Role::kernel);
  CHECK(classify("vectorized_gather_kernel", "kernel").role == Role::kernel);
}

TEST_CASE("event class: calls of the runtime and the driver are runtime") {
  CHECK(classify("cudaLaunchKernel", "cuda_runtime").place == EventPlace::call);
  CHECK(classify("cuLaunchKernel", "cuda_driver").role == Role::runtime);
  CHECK(classify("cudaLaunchKernel", "Runtime").role == Role::runtime);
}

TEST_CASE("event class: steps are those of the host, not their copies on device rows") {
  CHECK(classify("ProfilerStep#12", "user_annotation").mark == SpanMark::step);
  CHECK(classify("ProfilerStep#12", "Operator").step == 12);
  CHECK(classify("ProfilerStep#12", "").mark == SpanMark::step);
  CHECK(classify("ProfilerStep#12", "gpu_user_annotation").place == EventPlace::nowhere);
  CHECK(classify("ProfilerStep#x", "user_annotation").mark == SpanMark::none);
  CHECK(classify("ProfilerStep#-1", "user_annotation").mark == SpanMark::none);
}

TEST_CASE("event class: waits for data of torch and of every generation of Composer") {
  for (const char* name : {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                           "enumerate(DataPipe)#ShufflerIterDataPipe", "dataloader/train",
                           "dataloader/eval", "event/dataloader"}) {
    CAPTURE(name);
    CHECK(classify(name, "").role == Role::dataloader);
    CHECK(classify(name, "").mark == SpanMark::loader);
  }
}

TEST_CASE("event class: what is around steps is no work of its own") {
  for (const char* name : {"event/epoch", "event/fit", "event/batch", "event/train_batch"}) {
    CAPTURE(name);
    CHECK(classify(name, "").role == Role::other);
  }
  CHECK(classify("train.py(12): main", "python_function").role == Role::other);
  CHECK(classify("event/backward", "").mark == SpanMark::barrier);
  CHECK(classify("event/forward", "").role == Role::cpu);
  CHECK(classify("gloo:all_reduce", "user_annotation").mark == SpanMark::collective);
  CHECK(classify("shm:all_reduce", "collective").mark == SpanMark::collective);
  CHECK(classify("nccl:broadcast", "cpu_op").role == Role::communication);
  CHECK(classify("c10d::allreduce_", "cpu_op").role == Role::cpu);
}
