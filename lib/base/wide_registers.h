// leave_wide_registers(): to be called after code of others that uses AVX, before code of ours that
// does not.
//
//   const int result = isal_inflate(&state);
//   leave_wide_registers();
//
// ISA-L returns with the upper halves of the AVX registers in use. From then on each SSE
// instruction of ours has to keep the half it does not know of: on a Xeon a merge gz -> plain took
// 1.10 s of user time with that, 0.84 s without it; on Zen 4 both take as long. Any thread; a
// nanosecond.
#pragma once

namespace traceloom {

#if defined(__x86_64__)
inline void leave_wide_registers() {
  static const bool has_avx = __builtin_cpu_supports("avx") != 0;
  // What is below those halves stays as it is, so the compiler need not know of it.
  if (has_avx) __asm__ volatile("vzeroupper");
}
#else
inline void leave_wide_registers() {}
#endif

}  // namespace traceloom
