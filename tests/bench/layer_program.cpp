#include "bench/layer_program.h"

namespace traceloom::bench {
namespace {

using enum Kernel;

constexpr Operation kNorm[] = {
    {0, "aten::to", "Tssssn"},
    {1, "aten::_to_copy", "Tssnnsn"},
    {2, "aten::empty_strided", "LLssnn"},
    {2, "aten::copy_", "TTs", copy},
    {0, "aten::pow", "Ts", elementwise},
    {1, "aten::result_type", "Ts"},
    {0, "aten::mean", "TLsn", reduce},
    {0, "aten::add", "Tss", elementwise},
    {0, "aten::rsqrt", "T", elementwise},
    {0, "aten::mul", "TT", elementwise},
    {0, "aten::to", "Tssn"},
    {1, "aten::_to_copy", "Tssnnsn"},
    {2, "aten::empty_strided", "LLssnn"},
    {2, "aten::copy_", "TTs", copy},
    {0, "aten::mul", "NT", elementwise},
};

constexpr Operation kLinear[] = {
    {0, "aten::linear", "TWN", none, Autograd::forward},
    {1, "aten::t", "W"},
    {2, "aten::transpose", "Wss"},
    {3, "aten::as_strided", "WLLn"},
    {1, "aten::matmul", "TW"},
    {2, "aten::reshape", "TL"},
    {3, "aten::view", "TL"},
    {2, "aten::mm", "MW", gemm},
    {2, "aten::_unsafe_view", "ML"},
    {1, "aten::add_", "TNs", elementwise},
};

constexpr Operation kRotary[] = {
    {0, "aten::view", "TL"},
    {0, "aten::transpose", "Tss"},
    {1, "aten::as_strided", "TLLn"},
    {0, "aten::unsqueeze", "Ts"},
    {1, "aten::as_strided", "TLLn"},
    {0, "aten::mul", "HH", elementwise},
    {0, "aten::slice", "Hssss"},
    {1, "aten::as_strided", "HLLn"},
    {0, "aten::slice", "Hssss"},
    {1, "aten::as_strided", "HLLn"},
    {0, "aten::neg", "H", elementwise},
    {0, "aten::cat", "Ps", copy},
    {1, "aten::narrow", "Hsss"},
    {2, "aten::slice", "Hssss"},
    {3, "aten::as_strided", "HLLn"},
    {0, "aten::mul", "HH", elementwise},
    {0, "aten::add", "HHs", elementwise},
};

constexpr Operation kAttention[] = {
    {0, "aten::scaled_dot_product_attention", "HHHnssns"},
    {1, "aten::_scaled_dot_product_flash_attention", "HHHssss"},
    {2, "aten::transpose", "Hss"},
    {3, "aten::as_strided", "HLLn"},
    {2, "aten::_flash_attention_forward", "HHHnnsssssn", attention},
    {3, "aten::empty_like", "Hssnnn"},
    {4, "aten::empty_strided", "LLssnn"},
    {3, "aten::empty", "Lssnnn", memset},
    {0, "aten::transpose", "Hss"},
    {1, "aten::as_strided", "HLLn"},
    {0, "aten::contiguous", "Hs"},
    {1, "aten::clone", "Hs"},
    {2, "aten::empty_like", "Hssnns"},
    {3, "aten::empty", "Lssnns"},
    {2, "aten::copy_", "HHs", copy},
    {0, "aten::reshape", "HL"},
    {1, "aten::view", "HL"},
};

constexpr Operation kGate[] = {
    {0, "aten::silu", "F", elementwise}, {0, "aten::mul", "FF", elementwise},
    {0, "aten::dropout", "Fss"},         {1, "aten::native_dropout", "Fss", elementwise},
    {2, "aten::empty_like", "Fssnnn"},
};

constexpr Operation kResidual[] = {{0, "aten::add", "TTs", elementwise}};

constexpr Block kForward[] = {
    {"Qwen2RMSNorm", kNorm}, {"Linear", kLinear},         {"Linear", kLinear},
    {"Linear", kLinear},     {"Attention", kRotary},      {"Attention", kAttention},
    {"Linear", kLinear},     {"DecoderLayer", kResidual}, {"Qwen2RMSNorm", kNorm},
    {"Linear", kLinear},     {"Linear", kLinear},         {"MLP", kGate},
    {"Linear", kLinear},     {"DecoderLayer", kResidual},
};

constexpr Operation kLinearBackward[] = {
    {0, "autograd::engine::evaluate_function: UnsafeViewBackward0", ""},
    {1, "UnsafeViewBackward0", "T"},
    {2, "aten::reshape", "TL"},
    {3, "aten::view", "TL"},
    {0, "autograd::engine::evaluate_function: MmBackward0", "", none, Autograd::node},
    {1, "MmBackward0", "M"},
    {2, "aten::t", "M"},
    {3, "aten::transpose", "Mss"},
    {4, "aten::as_strided", "MLLn"},
    {2, "aten::mm", "MM", gemm},
    {2, "aten::t", "W"},
    {3, "aten::transpose", "Wss"},
    {4, "aten::as_strided", "WLLn"},
    {2, "aten::mm", "MW", gemm},
    {0, "autograd::engine::evaluate_function: TBackward0", ""},
    {1, "TBackward0", "W"},
    {2, "aten::t", "W"},
    {3, "aten::transpose", "Wss"},
    {4, "aten::as_strided", "WLLn"},
    {0, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", ""},
    {1, "torch::autograd::AccumulateGrad", "W"},
    {2, "aten::add_", "WWs", elementwise},
};

constexpr Operation kAttentionBackward[] = {
    {0, "autograd::engine::evaluate_function: ScaledDotProductFlashAttentionBackward0", ""},
    {1, "ScaledDotProductFlashAttentionBackward0", "Hn"},
    {2, "aten::_scaled_dot_product_flash_attention_backward", "HHHHHMnnsssssn"},
    {3, "aten::_flash_attention_backward", "HHHHHMnnsssssn", attention},
    {4, "aten::empty_like", "Hssnnn"},
    {4, "aten::zeros", "Lssnn"},
    {5, "aten::zero_", "M", memset},
    {0, "autograd::engine::evaluate_function: TransposeBackward0", ""},
    {1, "TransposeBackward0", "H"},
    {2, "aten::transpose", "Hss"},
    {3, "aten::as_strided", "HLLn"},
};

constexpr Operation kNormBackward[] = {
    {0, "autograd::engine::evaluate_function: MulBackward0", ""},
    {1, "MulBackward0", "T"},
    {2, "aten::mul", "TN", elementwise},
    {2, "aten::mul", "TT", elementwise},
    {2, "aten::sum", "TLss", reduce},
    {0, "autograd::engine::evaluate_function: RsqrtBackward0", ""},
    {1, "RsqrtBackward0", "T"},
    {2, "aten::pow", "Ts", elementwise},
    {2, "aten::mul", "Ts", elementwise},
    {0, "autograd::engine::evaluate_function: MeanBackward1", ""},
    {1, "MeanBackward1", "T"},
    {2, "aten::expand", "TLs"},
    {3, "aten::as_strided", "TLLn"},
    {2, "aten::div", "Ts", elementwise},
    {0, "autograd::engine::evaluate_function: ToCopyBackward0", ""},
    {1, "ToCopyBackward0", "T"},
    {2, "aten::to", "Tssssn"},
    {3, "aten::_to_copy", "Tssnnsn"},
    {4, "aten::empty_strided", "LLssnn"},
    {4, "aten::copy_", "TTs", copy},
};

constexpr Operation kGateBackward[] = {
    {0, "autograd::engine::evaluate_function: NativeDropoutBackward0", ""},
    {1, "NativeDropoutBackward0", "Fn"},
    {2, "aten::native_dropout_backward", "FFs", elementwise},
    {0, "autograd::engine::evaluate_function: SiluBackward0", ""},
    {1, "SiluBackward0", "F"},
    {2, "aten::silu_backward", "FF", elementwise},
};

constexpr Block kBackward[] = {
    {{}, kLinearBackward}, {{}, kGateBackward},   {{}, kLinearBackward},    {{}, kLinearBackward},
    {{}, kNormBackward},   {{}, kLinearBackward}, {{}, kAttentionBackward}, {{}, kLinearBackward},
    {{}, kLinearBackward}, {{}, kLinearBackward}, {{}, kNormBackward},
};

// Few, but each has all the model's tensors in its arguments.
constexpr Operation kOptimizer[] = {
    {0, "aten::_foreach_add_", "Gs", elementwise},
    {0, "aten::_foreach_mul_", "Gs", elementwise},
    {0, "aten::_foreach_lerp_", "GGs", elementwise},
    {0, "aten::_foreach_addcmul_", "GGGs", elementwise},
    {0, "aten::_foreach_sqrt", "G", elementwise},
    {0, "aten::_foreach_addcdiv_", "GGGL", elementwise},
    {0, "aten::item", "N"},
    {1, "aten::_local_scalar_dense", "N", copy},
};

}  // namespace

std::span<const Block> forward_blocks() {
  return kForward;
}

std::span<const Block> backward_blocks() {
  return kBackward;
}

std::span<const Operation> optimizer_operations() {
  return kOptimizer;
}

}  // namespace traceloom::bench
