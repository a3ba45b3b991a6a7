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
  CHECK(classify("merge", "mtia_ccp_events").is_program);
  CHECK_FALSE(classify("gemm", "kernel").is_program);
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
  CHECK(classify("ProfilerStep#x", "user_annotation").mark == SpanMark::annotation);
  CHECK(classify("ProfilerStep#-1", "user_annotation").mark == SpanMark::annotation);
}

TEST_CASE("event class: calls of torch modules are functions of Python") {
  const EventClass module = classify("nn.Module: Linear_12", "python_function");
  CHECK(module.is_module);
  CHECK(module.role == Role::other);
  CHECK(module.mark == SpanMark::none);
  CHECK_FALSE(classify("nn.Module: Linear_12", "user_annotation").is_module);
  CHECK_FALSE(classify("torch/nn/modules/linear.py(114): forward", "python_function").is_module);
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

TEST_CASE("event class: a name that a program gives to a time is no work") {
  const EventClass annotation{EventPlace::host, Role::other, SpanMark::annotation};
  CHECK(classify("train", "user_annotation") == annotation);
  CHECK(classify("Optimizer.step#SGD.step", "cpu_op") == annotation);
  CHECK(classify("DistributedDataParallel.forward", "Operator") == annotation);
  CHECK(classify("aten::mm", "cpu_op").role == Role::cpu);
  CHECK(classify("train", "python").role == Role::cpu);
  CHECK(classify("train", "").role == Role::cpu);
  CHECK(classify("event/forward", "user_annotation").mark == SpanMark::forward);
  CHECK(classify("c10d::allreduce_", "user_annotation").role == Role::cpu);
  CHECK(classify("nccl:all_reduce", "user_annotation").role == Role::communication);
}

TEST_CASE("event class: the profiler's own time is marked and has no place") {
  const EventClass overhead{EventPlace::nowhere, Role::other, SpanMark::overhead};
  CHECK(classify("Activity Buffer Request", "overhead") == overhead);
  CHECK(classify("PyTorch Profiler (0)", "Trace").mark == SpanMark::none);
}

TEST_CASE("event class: iterations of vLLM and SGLang are steps of two kinds") {
  const auto mark = [](const char* name) { return classify(name, "user_annotation").mark; };
  CHECK(mark("execute_512_context_1(sq512sk512)_generation_0(sq0sk0)") == SpanMark::prefill);
  CHECK(mark("execute_8_context_0(sq0sk0)_generation_8(sq8sk900)") == SpanMark::decode);
  CHECK(mark("execute_context_0(0)_generation_8(8)") == SpanMark::decode);
  CHECK(mark("execute_264_context_1(sq256)_generation_8(sq8)") == SpanMark::prefill);
  CHECK(mark("execute_0_context_0(sq0)_generation_0(sq0)") == SpanMark::rest);
  CHECK(mark("execute_model") == SpanMark::annotation);
  CHECK(mark("execute_8_context_") == SpanMark::annotation);
  CHECK(mark("execute_8_context_1(") == SpanMark::annotation);
  CHECK(mark("step[EXTEND bs=15 toks=15360]") == SpanMark::prefill);
  CHECK(mark("step[MIXED bs=15 toks=99]") == SpanMark::prefill);
  CHECK(mark("step[DECODE bs=32]") == SpanMark::decode);
  CHECK(mark("step[TARGET_VERIFY bs=4]") == SpanMark::decode);
  CHECK(mark("step[IDLE bs=0]") == SpanMark::rest);
  CHECK(classify("step[DECODE bs=32]", "gpu_user_annotation").place == EventPlace::nowhere);
}

TEST_CASE("event class: only rows tell of events without a category, or with one nobody knows") {
  const auto by_row = [](const char* name, const char* category, bool has) {
    return is_known_by_row(classify(name, category), category, has);
  };
  CHECK(by_row("fusion.1", "", false));
  CHECK(by_row("matmul", "acme_kernel", true));
  CHECK_FALSE(by_row("step", "", true));  // Composer's
  CHECK_FALSE(by_row("aten::mm", "cpu_op", true));
  CHECK_FALSE(by_row("Enqueue", "enqueue", true));
  CHECK_FALSE(by_row("gemm", "kernel", true));
  CHECK_FALSE(by_row("ProfilerStep#1", "", false));
  CHECK_FALSE(by_row("enumerate(DataLoader)#X", "", false));
}

TEST_CASE("event class: what is no kernel on rows of XLA") {
  const DeviceRow ops = find_device_row("/device:TPU:0", "XLA Ops");
  const auto role = [&](const char* name) { return classify_on_row(ops, name).role; };
  CHECK(role("fusion.12") == Role::kernel);
  CHECK(role("all-reduce.3") == Role::communication);
  CHECK(role("reduce-scatter.1") == Role::communication);
  CHECK(role("collective-permute-done.2") == Role::communication);
  CHECK(role("ncclDevKernel_AllGather_RING_LL") == Role::communication);
  CHECK(role("MemcpyH2D") == Role::memcpy);
  CHECK(role("copy-done.4") == Role::memcpy);
  CHECK(role("Memset") == Role::memset);
  CHECK(role("reduce.7") == Role::kernel);
  const DeviceRow async = find_device_row("/device:TPU:0", "Async XLA Ops");
  CHECK(classify_on_row(async, "all-gather-start.1").role == Role::communication);
  CHECK(classify_on_row(async, "fusion.1").place == EventPlace::nowhere);
}

TEST_CASE("event class: JAX's host has calls of the driver and frames of Python") {
  const DeviceRow host = find_device_row("/host:CPU", "python");
  CHECK(classify_on_row(host, "cuLaunchKernel").place == EventPlace::call);
  CHECK(classify_on_row(host, "hipMemcpyAsync").role == Role::runtime);
  CHECK(classify_on_row(host, "cublasLtMatmul").place == EventPlace::host);
  CHECK(classify_on_row(host, "$train.py:10 main").role == Role::other);
  CHECK(classify_on_row(host, "PjitFunction(f)").role == Role::cpu);
}

TEST_CASE("event class: Ascend's waits are no work") {
  const DeviceRow stream = find_device_row("Ascend Hardware", "Stream 3");
  CHECK(classify_on_row(stream, "EVENT_WAIT").place == EventPlace::nowhere);
  CHECK(classify_on_row(stream, "Notify_Wait").place == EventPlace::nowhere);
  CHECK(classify_on_row(stream, "MEMCPY_ASYNC").role == Role::memcpy);
  CHECK(classify_on_row(stream, "hcom_broadcast__1").role == Role::communication);
  CHECK(classify_on_row(stream, "aclnnMm_MatMul_MatMul").role == Role::kernel);
}
