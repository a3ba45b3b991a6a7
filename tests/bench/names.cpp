#include "bench/names.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace traceloom::bench {
namespace {

constexpr std::array<std::string_view, 44> kOperations = {"add",
                                                          "addmm",
                                                          "argmax",
                                                          "baddbmm",
                                                          "bmm",
                                                          "cat",
                                                          "clamp",
                                                          "clone",
                                                          "copy",
                                                          "cumsum",
                                                          "div",
                                                          "dropout",
                                                          "embedding",
                                                          "empty",
                                                          "exp",
                                                          "fill",
                                                          "gather",
                                                          "gelu",
                                                          "index",
                                                          "layer_norm",
                                                          "linear",
                                                          "log_softmax",
                                                          "masked_fill",
                                                          "matmul",
                                                          "max",
                                                          "mean",
                                                          "mm",
                                                          "mul",
                                                          "native_dropout",
                                                          "neg",
                                                          "nll_loss",
                                                          "pow",
                                                          "relu",
                                                          "reshape",
                                                          "rsqrt",
                                                          "scaled_dot_product_attention",
                                                          "select",
                                                          "sigmoid",
                                                          "slice",
                                                          "softmax",
                                                          "sub",
                                                          "sum",
                                                          "transpose",
                                                          "where"};

constexpr std::array<std::string_view, 6> kVariants = {"",          "_",     "_out",
                                                       "_backward", "_copy", "_jvp"};

constexpr std::array<std::string_view, 4> kTypes = {"float", "c10::Half", "c10::BFloat16", "long"};

constexpr std::array<std::string_view, 8> kFrames = {
    "forward", "__call__", "_call_impl", "_wrapped_call_impl",
    "step",    "backward", "wrapper",    "__next__"};

constexpr std::array<std::string_view, 8> kFiles = {"torch/nn/modules/module.py",
                                                    "torch/nn/modules/linear.py",
                                                    "torch/_tensor.py",
                                                    "torch/nn/functional.py",
                                                    "torch/autograd/grad_mode.py",
                                                    "models/decoder.py",
                                                    "models/attention.py",
                                                    "training/loop.py"};

std::string camel_case(std::string_view name) {
  std::string out;
  bool upper = true;
  for (const char c : name) {
    if (c != '_') out += upper ? static_cast<char>(c - 'a' + 'A') : c;
    upper = c == '_';
  }
  return out;
}

void add_kernels(std::string_view operation, std::vector<std::string>& kernels) {
  for (const std::string_view type : kTypes) {
    const std::string functor =
        fmt::format("at::native::{}Functor<{}, float>", camel_case(operation), type);
    kernels.push_back(fmt::format(
        "void at::native::vectorized_elementwise_kernel<4, {0}, std::array<char*, 3ul> >(int, {0}, "
        "std::array<char*, 3ul>)",
        functor));
    kernels.push_back(fmt::format("{}_{}_tn_n_tilesize128x128x64_warpgroupsize1x1x1_kernel",
                                  operation, type.substr(type.find_last_of(':') + 1)));
  }
  kernels.push_back(fmt::format(
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
      "namespace)::TensorListMetadata<4>, at::native::(anonymous namespace)::{0}, "
      "at::native::(anonymous "
      "namespace)::PowerFunctor<float, 4, 2, 2>, float, bool>(at::native::(anonymous "
      "namespace)::TensorListMetadata<4>, at::native::(anonymous namespace)::{0}, float, bool)",
      camel_case(operation)));
}

}  // namespace

Names make_names() {
  Names names;
  for (const std::string_view operation : kOperations) {
    for (const std::string_view variant : kVariants) {
      names.operators.push_back(fmt::format("aten::{}{}", operation, variant));
      names.backwards.push_back(camel_case(operation) + camel_case(variant) + "Backward0");
    }
    add_kernels(operation, names.kernels);
  }
  int line = 17;
  for (const std::string_view file : kFiles)
    for (const std::string_view frame : kFrames)
      names.frames.push_back(fmt::format("{}({}): {}", file, line += 61, frame));
  for (const char* module :
       {"DecoderLayer", "SelfAttention", "Linear", "RMSNorm", "MLP", "Embedding", "Dropout"})
    names.modules.push_back(fmt::format("nn.Module: {}", module));
  return names;
}

}  // namespace traceloom::bench
