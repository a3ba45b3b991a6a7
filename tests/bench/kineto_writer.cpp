#include "bench/kineto_writer.h"

#include "bench/operator_args.h"
#include "bench/step_model.h"
#include "bench/text_output.h"

#include <algorithm>
#include <string_view>

namespace traceloom::bench {
namespace {

constexpr std::int64_t kBaseNs = 1'767'189'312'000'000'000;  // a quarter of torch's calendar
constexpr std::int64_t kRunStartNs = 1'428'625'731'896'179;  // 16 days later
constexpr std::int64_t kSyncBeforeRunNs = 500'000'000;
constexpr std::int64_t kHostPid = 25'286;
constexpr std::int64_t kMainThread = 25'286;
constexpr std::int64_t kAutogradThread = 25'931;
constexpr std::int64_t kDevice = 0;  // pid of the rank's GPU
constexpr std::int64_t kStream = 7;
constexpr std::int64_t kCollectiveStream = 20;
constexpr std::int64_t kLayers = 12;
// The model is smaller in a small file, so that also that holds some ten steps; in the smallest,
// one that does not train.
constexpr std::int64_t kBytesForLayer = 4'000'000;
constexpr std::int64_t kBytesForTraining = 1'000'000;

std::int64_t thread_of(bool backward) {
  return backward ? kAutogradThread : kMainThread;
}

// The profiler's category, name and number of a call that starts device work.
struct Runtime {
  std::string_view category;
  std::string_view name;
  std::int64_t cbid;
};

Runtime runtime_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::gemm:
      return {"cuda_runtime", "cudaLaunchKernelExC", 430};
    case Kernel::attention:
      return {"cuda_driver", "cuLaunchKernel", 307};
    case Kernel::memset:
      return {"cuda_runtime", "cudaMemsetAsync", 51};
    default:
      return {"cuda_runtime", "cudaLaunchKernel", 211};
  }
}

class KinetoWriter {
 public:
  KinetoWriter(const RankFile& file, const Names& names, std::int64_t layers, bool training)
      : file_(file),
        layers_(layers),
        model_({file.seed, file.rank, layers, training}, names),
        out_(file.path, file.gzip) {
    // Up to two seconds, and no whole number of microseconds.
    const std::uint64_t scrambled =
        (static_cast<std::uint64_t>(file.rank) * 0x9E3779B97F4A7C15U) >> 20;
    clock_offset_ =
        file.rank == 0 ? 0 : static_cast<std::int64_t>(scrambled % 4'000'000'000U) - 2'000'000'000;
  }

  // The size of one step.
  std::int64_t measure() {
    write_steps(1);
    const auto bytes = static_cast<std::int64_t>(out_.bytes());
    out_.rewind();
    events_ = 0;
    return bytes;
  }

  WrittenFile write(std::int64_t steps) {
    write_head();
    write_steps(steps);
    write_tail(steps);
    const WrittenFile written{out_.bytes(), events_, steps, clock_offset_};
    out_.close();
    return written;
  }

 private:
  void write_steps(std::int64_t steps) {
    for (const auto section : {&KinetoWriter::write_host, &KinetoWriter::write_memory,
                               &KinetoWriter::write_python, &KinetoWriter::write_device}) {
      for (std::int64_t number = 0; number < steps; ++number) {
        (this->*section)(model_.step(number));
        if (steps > 1) out_.flush_when_full();
      }
    }
  }

  void write_head();
  void metadata(std::string_view name, std::int64_t pid, std::int64_t tid, std::string_view args);
  void write_host(const Step& step);
  void write_call(const Call& call, const TensorSizes& sizes);
  void write_memory(const Step& step);
  void write_python(const Step& step);
  void write_device(const Step& step);
  void write_activity(const Launch& launch);
  void write_launch(const Launch& launch);
  void write_collective(const Step& step);
  void write_tail(std::int64_t steps);

  TextOutput& time(std::int64_t ns) { return out_.us(kRunStartNs + clock_offset_ + ns); }

  TextOutput& separate() {
    if (events_++ != 0) out_ << ",\n  ";
    return out_;
  }

  // An X event up to its first argument; end_event() closes it.
  TextOutput& begin_event(std::string_view cat, std::string_view name, std::int64_t pid,
                          std::int64_t tid, std::int64_t start, std::int64_t duration) {
    separate() << "{\n    \"ph\": \"X\", \"cat\": \"" << cat << "\", \"name\": \"" << name
               << "\", \"pid\": " << pid << ", \"tid\": " << tid << ",\n    \"ts\": ";
    time(start) << ", \"dur\": ";
    return out_.us(duration) << ",\n    \"args\": {\n      ";
  }
  void end_event() { out_ << "\n    }\n  }"; }

  void annotation(std::string_view name, std::int64_t start, std::int64_t duration,
                  std::int64_t id) {
    begin_event("user_annotation", name, kHostPid, kMainThread, start, duration)
        << "\"External id\": " << id;
    end_event();
  }

  void arrow(std::string_view phase, std::string_view cat, std::int64_t id, std::int64_t pid,
             std::int64_t tid, std::int64_t ns) {
    separate() << "{\n    \"ph\": \"" << phase << "\", \"id\": " << id << ", \"pid\": " << pid
               << ", \"tid\": " << tid << ",\n    \"ts\": ";
    time(ns) << ", \"cat\": \"" << cat << "\", \"name\": \"" << cat << "\""
             << (phase == "f" ? ", \"bp\": \"e\"" : "") << "\n  }";
  }

  RankFile file_;
  std::int64_t layers_;
  StepModel model_;
  TextOutput out_;
  std::int64_t clock_offset_ = 0;
  std::uint64_t events_ = 0;
  std::string name_;  // being put together; a member for its memory
};

void KinetoWriter::write_head() {
  out_
      << "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, "
         "\"name\": \"Generated GPU\", \"totalGlobalMem\": 85899345920,\n      \"computeMajor\": "
         "9, "
         "\"computeMinor\": 0, \"numSms\": 132\n    }\n  ],\n  \"cuda_runtime_version\": 12040,\n  "
         "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": "
      << file_.rank << ", \"world_size\": " << file_.ranks
      << ", \"pg_count\": 1},\n  \"record_shapes\": 1,\n  \"with_stack\": 1,\n  "
         "\"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": "
      << kBaseNs << ",\n  \"global_rank\": " << file_.rank << ",\n  \"clock_sync_timestamp_us\": "
      << (kRunStartNs - kSyncBeforeRunNs + clock_offset_) / 1000 << ",\n  \"traceEvents\": [\n  ";
  metadata("process_name", kHostPid, 0, "\"name\": \"python3\"");
  metadata("process_labels", kHostPid, 0, "\"labels\": \"CPU\"");
  metadata("thread_name", kHostPid, kMainThread, "\"name\": \"thread 25286 (python3)\"");
  metadata("thread_name", kHostPid, kAutogradThread, "\"name\": \"thread 25931 (pt_autograd_0)\"");
  for (std::int64_t device = 0; device < 8; ++device) {
    metadata("process_name", device, 0, "\"name\": \"python3\"");
    metadata("process_labels", device, 0, "\"labels\": \"GPU " + std::to_string(device) + "\"");
  }
  metadata("thread_name", kDevice, kStream, "\"name\": \"stream 7\"");
  metadata("thread_name", kDevice, kCollectiveStream, "\"name\": \"stream 20\"");
}

void KinetoWriter::metadata(std::string_view name, std::int64_t pid, std::int64_t tid,
                            std::string_view args) {
  separate() << "{\n    \"name\": \"" << name << "\", \"ph\": \"M\", \"ts\": ";
  time(0) << ", \"pid\": " << pid << ", \"tid\": " << tid << ",\n    \"args\": {\n      " << args
          << "\n    }\n  }";
}

void KinetoWriter::write_host(const Step& step) {
  annotation("ProfilerStep#" + std::to_string(step.number), step.start, step.duration, step.number);
  annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", step.start + 1000,
             step.loader_duration - 1000, step.number);
  const TensorSizes sizes{step.sequence_length, layers_};
  for (const Call& call : step.calls) write_call(call, sizes);
  annotation("Optimizer.step#AdamW.step", step.optimizer_start, 2'000'000, step.number);
}

void KinetoWriter::write_call(const Call& call, const TensorSizes& sizes) {
  const std::int64_t thread = thread_of(call.backward);
  begin_event("cpu_op", call.operation->name, kHostPid, thread, call.start, call.duration)
      << "\"External id\": " << call.id << ", \"Record function id\": 0, ";
  if (call.sequence != 0)
    out_ << "\"Sequence number\": " << call.sequence
         << ", \"Fwd thread id\": " << std::int64_t{call.backward} << ", ";
  write_inputs(out_, call.operation->inputs, sizes);
  out_ << ", \"Ev Idx\": " << call.id;
  end_event();
  if (call.sequence != 0)
    arrow(call.backward ? "f" : "s", "fwdbwd", call.sequence, kHostPid, thread, call.start);
}

void KinetoWriter::write_memory(const Step& step) {
  for (const Allocation& allocation : step.allocations) {
    separate() << "{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
                  "\"[memory]\", \"pid\": "
               << kHostPid << ", \"tid\": " << thread_of(allocation.backward) << ",\n    \"ts\": ";
    time(allocation.time) << ",\n    \"args\": {\n      \"Total Reserved\": 2629828608, "
                             "\"Total Allocated\": "
                          << allocation.total << ", \"Bytes\": " << allocation.bytes
                          << ", \"Addr\": " << allocation.address
                          << ", \"Device Id\": 0, \"Device Type\": 1\n    }\n  }";
  }
}

void KinetoWriter::write_python(const Step& step) {
  for (const Frame& frame : step.frames) {
    name_.clear();
    if (frame.name == nullptr)
      name_.append("nn.Module: ")
          .append(frame.module)
          .append("_")
          .append(std::to_string(frame.module_id));
    begin_event("python_function", frame.name == nullptr ? name_ : *frame.name, kHostPid,
                kMainThread, frame.start, frame.duration)
        << "\"Python parent id\": " << frame.parent << ", \"Python id\": " << frame.id;
    if (frame.name == nullptr) out_ << ", \"Python module id\": " << frame.module_id;
    out_ << ", \"Ev Idx\": " << frame.id;
    end_event();
  }
}

// The correlations stand in the order of real files: the work on the device, then the call that
// started it.
void KinetoWriter::write_device(const Step& step) {
  for (const Launch& launch : step.launches) {
    write_activity(launch);
    arrow("f", "ac2g", launch.correlation, kDevice, kStream, launch.device_start);
    write_launch(launch);
    arrow("s", "ac2g", launch.correlation, kHostPid, thread_of(launch.backward), launch.start);
  }
  write_collective(step);
  name_.assign("ProfilerStep#").append(std::to_string(step.number));
  begin_event("gpu_user_annotation", name_, kDevice, kStream, step.start, step.duration)
      << "\"External id\": " << step.number;
  end_event();
}

void KinetoWriter::write_activity(const Launch& launch) {
  const auto bits = static_cast<std::int64_t>(launch.shape >> 1);
  const bool memset = launch.kernel == Kernel::memset;
  begin_event(memset ? "gpu_memset" : "kernel", *launch.name, kDevice, kStream, launch.device_start,
              launch.device_duration)
      << "\"External id\": " << launch.external_id;
  if (memset) {
    out_ << ", \"device\": 0, \"context\": 1, \"stream\": " << kStream
         << ", \"correlation\": " << launch.correlation
         << ", \"bytes\": 4, \"memory bandwidth (GB/s)\": ";
    out_.six_decimals(4'000'000 / launch.device_duration);
  } else {
    const std::int64_t blocks = 18 << bits % 11;
    out_ << ", \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": " << kStream
         << ", \"correlation\": " << launch.correlation
         << ", \"registers per thread\": " << 16 + bits % 12 * 8
         << ", \"shared memory\": " << bits % 5 * 16'384 << ", \"blocks per SM\": ";
    out_.six_decimals(blocks * 1'000'000 / 132) << ", \"warps per SM\": ";
    out_.six_decimals(blocks * 4'000'000 / 132)
        << ", \"grid\": [" << blocks << ", 1, 1], \"block\": [" << (128 << bits % 3)
        << ", 1, 1], \"est. achieved occupancy %\": " << std::min<std::int64_t>(100, blocks / 2);
  }
  end_event();
}

void KinetoWriter::write_launch(const Launch& launch) {
  const Runtime runtime = runtime_of(launch.kernel);
  begin_event(runtime.category, runtime.name, kHostPid, thread_of(launch.backward), launch.start,
              launch.duration)
      << "\"External id\": " << launch.external_id << ", \"cbid\": " << runtime.cbid
      << ", \"correlation\": " << launch.correlation;
  end_event();
}

void KinetoWriter::write_collective(const Step& step) {
  begin_event("kernel",
              "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", kDevice,
              kCollectiveStream, step.collective_start, step.collective_duration)
      << "\"device\": 0, \"stream\": " << kCollectiveStream
      << ", \"Collective name\": \"allreduce\", \"In msg nelems\": 25559081, \"Out msg nelems\": "
         "25559081, \"Group size\": "
      << file_.ranks << ", \"dtype\": \"BFloat16\", \"Seq\": " << step.number;
  end_event();
}

void KinetoWriter::write_tail(std::int64_t steps) {
  const Step& last = model_.step(steps - 1);
  separate() << "{\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    "
                "\"pid\": \"\", \"tid\": \"\", \"ts\": ";
  time(last.start + last.duration)
      << "\n  }\n  ],\n  \"traceName\": \"rank" << file_.rank << ".pt.trace.json\"\n}\n";
}

}  // namespace

WrittenFile write_rank(const RankFile& file, const Names& names) {
  const auto bytes = static_cast<std::int64_t>(file.megabytes * 1e6);
  KinetoWriter writer(file, names, std::clamp<std::int64_t>(bytes / kBytesForLayer, 1, kLayers),
                      bytes >= kBytesForTraining);
  const std::int64_t step_bytes = writer.measure();
  return writer.write(std::max<std::int64_t>(1, (bytes + step_bytes / 2) / step_bytes));
}

}  // namespace traceloom::bench
