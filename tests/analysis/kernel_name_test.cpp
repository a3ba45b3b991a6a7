#include "analysis/work/work_names.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("kernel name: the arguments of the function are left out") {
  CHECK(kernel_name("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)") ==
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  CHECK(kernel_name("ampere_sgemm_128x64_nn") == "ampere_sgemm_128x64_nn");
  CHECK(kernel_name("gloo:all_reduce") == "gloo:all_reduce");
  CHECK(kernel_name("") == "");
  CHECK(kernel_name("()") == "()");
}

TEST_CASE("kernel name: an anonymous namespace is a part of it") {
  CHECK(kernel_name("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>("
                    "c10::BFloat16*, unsigned long, unsigned int**, unsigned long)") ==
        "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>");
  CHECK(kernel_name("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned "
                    "int, 4, 64, 64>(float*, at::native::(anonymous namespace)::"
                    "CatArrInputTensorMetadata<float, unsigned int, 64, 64>, int, unsigned int)") ==
        "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 4, 64, "
        "64>");
  CHECK(kernel_name("at::native::(anonymous namespace)::fill") ==
        "at::native::(anonymous namespace)::fill");
}

TEST_CASE("kernel name: call operators and lambdas in template arguments are a part of it") {
  const std::string_view name =
      "void at::native::vectorized_elementwise_kernel<4, at::native::gpu_kernel_impl<at::native::"
      "direct_copy(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::"
      "operator()() const::{lambda(float)#1}>(int, std::array<char*, 2ul>)";
  CHECK(kernel_name(name) == name.substr(0, name.rfind('(')));
  const std::string_view by_nvcc =
      "void at::native::unrolled_elementwise_kernel<at::native::copy(at::TensorIteratorBase &)::"
      "[lambda() (instance 3)]::operator ()() const::[lambda(float) (instance 1)], int>(int, T2)";
  CHECK(kernel_name(by_nvcc) == by_nvcc.substr(0, by_nvcc.rfind('(')));
  CHECK(kernel_name("run<std::function<void (int)>>") == "run<std::function<void (int)>>");
  CHECK(kernel_name("Functor::operator()(float*, int) const") == "Functor::operator()");
  CHECK(kernel_name("Functor::operator()") == "Functor::operator()");
  CHECK(kernel_name("void run<float>(void (*)(int), int) [clone .kd]") == "void run<float>");
}

TEST_CASE("kernel name: one that is cut within its arguments has none") {
  CHECK(kernel_name("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevCo") ==
        "ncclKernel_AllReduce_RING_LL_Sum_float");
  CHECK(kernel_name("void sum<int>(std::function<void (int)>, fl") == "void sum<int>");
  CHECK(kernel_name("void (anonymous name") == "void (anonymous name");
}
