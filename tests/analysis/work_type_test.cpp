#include "analysis/work/work_names.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("work type: the operator tells before the kernel does") {
  CHECK(work_type("aten::addmm", "splitKreduce_kernel") == WorkType::gemm);
  CHECK(work_type("aten::convolution_backward", "void implicit_gemm") == WorkType::conv_bwd);
  CHECK(work_type("aten::native_layer_norm", "vectorized_layer_norm") == WorkType::norm);
  CHECK(work_type("aten::native_batch_norm_backward", "") == WorkType::norm_bwd);
  CHECK(work_type("aten::_flash_attention_forward", "flash_fwd_kernel") == WorkType::attention);
  CHECK(work_type("c10d::allreduce_", "") == WorkType::communication);
  CHECK(work_type("aten::_foreach_add_", "") == WorkType::multi_tensor);
  CHECK(work_type("triton_poi_fused_add_3", "triton_poi_fused_add_3") == WorkType::triton);
  CHECK(work_type("aten::sum", "reduce_kernel") == WorkType::reduce);
}

TEST_CASE("work type: a kernel tells where the operator does not") {
  CHECK(work_type("aten::copy_", "vectorized_elementwise_kernel") == WorkType::elementwise);
  CHECK(work_type("aten::copy_", "Memcpy HtoD (Pageable -> Device)") == WorkType::memory);
  CHECK(work_type("", "ncclDevKernel_AllReduce_Sum_bf16") == WorkType::communication);
  CHECK(work_type("", "Cijk_Alik_Bljk_B_BS_BH") == WorkType::gemm);
  CHECK(work_type("", "void flash_bwd_dq_dk_dv_loop") == WorkType::attention_bwd);
  CHECK(work_type("", "cudnn::detail::dgrad_engine") == WorkType::conv_bwd);
  CHECK(work_type("", "igemm_fwd_gtcx2_nhwc") == WorkType::conv);
  CHECK(work_type("", "") == WorkType::other);
  CHECK(work_type("aten::max_pool2d", "max_pool_forward_nchw") == WorkType::other);
  CHECK(to_string(WorkType::communication) == "communication");
  CHECK(to_string(WorkType::other) == "other");
}

TEST_CASE("work type: operators that could use tensor cores multiply or convolve") {
  CHECK(may_use_tensor_cores("aten::linear"));
  CHECK(may_use_tensor_cores("aten::cudnn_convolution"));
  CHECK_FALSE(may_use_tensor_cores("aten::add"));
  CHECK_FALSE(may_use_tensor_cores("op_no_tc"));
}
