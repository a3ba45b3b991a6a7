#include "bench/names.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace traceloom::bench {
namespace {

constexpr std::string_view kFunctors[] = {"add",  "mul",     "neg",     "pow",  "rsqrt", "silu",
                                          "sqrt", "addcmul", "addcdiv", "lerp", "fill",  "div"};

constexpr std::string_view kTypes[] = {"float", "c10::Half", "c10::BFloat16"};

constexpr std::string_view kBuiltIns[] = {
    "add",     "append", "arange",  "cat",   "chunk",   "copy_",  "cos",       "dropout", "expand",
    "float",   "get",    "getattr", "items", "len",     "linear", "matmul",    "max",     "mean",
    "mul",     "numel",  "ones",    "pow",   "reshape", "rsqrt",  "silu",      "sin",     "size",
    "softmax", "split",  "stack",   "sum",   "to",      "type",   "unsqueeze", "view",    "zeros"};

constexpr std::string_view kFunctions[] = {"forward",     "__call__",
                                           "_call_impl",  "_wrapped_call_impl",
                                           "__getattr__", "apply_rotary_pos_emb",
                                           "step",        "backward",
                                           "wrapper",     "__next__",
                                           "rotate_half", "<listcomp>"};

constexpr std::string_view kFiles[] = {"torch/nn/modules/module.py",
                                       "torch/nn/modules/linear.py",
                                       "torch/_tensor.py",
                                       "torch/nn/functional.py",
                                       "torch/autograd/grad_mode.py",
                                       "transformers/models/decoder/modeling_decoder.py",
                                       "transformers/cache_utils.py",
                                       "transformers/integrations/sdpa_attention.py",
                                       "torch/utils/data/dataloader.py",
                                       "training/loop.py"};

void add_gemms(std::vector<std::string>& kernels) {
  for (const char* layout : {"tn_n", "nn_n", "nt_n"}) {
    for (const int rows : {64, 128, 256}) {
      for (const int columns : {64, 128, 256}) {
        kernels.push_back(fmt::format(
            "sm90_xmma_gemm_bf16bf16_bf16f32_f32_{}_tilesize{}x{}x64_warpgroupsize{}x1x1_bias_f16_"
            "execute_segment_k_off_kernel__5x_cublas",
            layout, rows, columns, rows / 128 + 1));
        kernels.push_back(
            fmt::format("nvjet_tst_{}x{}_64x4_1x2_h_bz_coopA_{}", rows, columns, layout));
      }
    }
  }
}

// The operator is named twice: in the template's arguments and in the function's.
void add_elementwise(std::string_view functor, std::string_view type,
                     std::vector<std::string>& kernels) {
  const std::string lambda = fmt::format(
      "at::native::{}_kernel_cuda(at::TensorIteratorBase&)::{{lambda()#2}}::operator()() "
      "const::{{lambda()#2}}::operator()() const::{{lambda({})#1}}",
      functor, type);
  kernels.push_back(fmt::format(
      "void at::native::vectorized_elementwise_kernel<4, {0}, std::array<char*, 2ul> >(int, {0}, "
      "std::array<char*, 2ul>)",
      lambda));
  const std::string binary = fmt::format(
      "at::native::BinaryFunctor<{0}, {0}, {0}, at::native::binary_internal::{1}Functor<{0}> >",
      type, functor);
  kernels.push_back(fmt::format(
      "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<{0} "
      ">(at::TensorIteratorBase&, {0} const&)::{{lambda(int)#1}}>(int, "
      "at::native::gpu_kernel_impl_nocast<{0} >(at::TensorIteratorBase&, {0} "
      "const&)::{{lambda(int)#1}})",
      binary));
}

void add_reductions(std::string_view type, std::vector<std::string>& kernels) {
  for (const char* operation : {"MeanOps", "func_wrapper_t", "MaxOps", "WelfordOps"}) {
    const std::string reduction = fmt::format(
        "at::native::ReduceOp<{0}, at::native::{1}<{0}, {0}, {0}, {0}>, unsigned int, {0}, 4, 4>",
        type, operation);
    kernels.push_back(fmt::format("void at::native::reduce_kernel<512, 1, {0} >({0})", reduction));
  }
}

void add_copies(std::string_view from, std::string_view to, std::vector<std::string>& kernels) {
  const std::string lambda = fmt::format(
      "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{{lambda()#3}}::operator()() "
      "const::{{lambda({})#1}}",
      from);
  kernels.push_back(
      fmt::format("void at::native::unrolled_elementwise_kernel<{0}, std::array<char*, 2ul>, 4, "
                  "TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1>, "
                  "at::native::memory::StoreWithCast<1> >(int, {0}, std::array<char*, 2ul>, {1})",
                  lambda, to));
}

std::array<std::vector<std::string>, 7> make_kernels() {
  std::array<std::vector<std::string>, 7> kernels;
  const auto of = [&kernels](Kernel kernel) -> std::vector<std::string>& {
    return kernels[static_cast<std::size_t>(kernel)];
  };
  add_gemms(of(Kernel::gemm));
  for (const std::string_view type : kTypes) {
    for (const std::string_view functor : kFunctors)
      add_elementwise(functor, type, of(Kernel::elementwise));
    add_reductions(type, of(Kernel::reduce));
    for (const std::string_view to : kTypes) add_copies(type, to, of(Kernel::copy));
  }
  for (const int head : {64, 96, 128, 256})
    of(Kernel::attention)
        .push_back(fmt::format(
            "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<{}, 128, "
            "64, 4, "
            "false, false, cutlass::bfloat16_t>, false, true, false, false, true, true, "
            "false>(pytorch_flash::Flash_fwd_params)",
            head));
  of(Kernel::memset).emplace_back("Memset (Device)");
  return kernels;
}

}  // namespace

Names make_names() {
  Names names{.kernels = make_kernels(), .calls = {}, .built_ins = {}};
  int line = 17;
  for (const std::string_view file : kFiles)
    for (const std::string_view function : kFunctions)
      names.calls.push_back(fmt::format("{}({}): {}", file, line += 61, function));
  std::uint64_t address = 0x7d6b'7761'df60;
  for (const char* object : {"type", "Tensor", "PyCapsule", "dict"})
    for (const std::string_view function : kBuiltIns)
      names.built_ins.push_back(fmt::format("<built-in method {} of {} object at {:#x}>", function,
                                            object, address += 0x1'1a30));
  return names;
}

}  // namespace traceloom::bench
