// leave_wide_registers(): call it after foreign code that uses AVX and before our code, which does
// not.
//
//   const int result = isal_inflate(&state);
//   leave_wide_registers();
//
// ISA-L returns with the upper halves of the AVX registers in use. From then on each SSE
// instruction of ours has to preserve a half that it does not know. On a Xeon a merge gz -> plain
// took 1.10 s of user time with that and 0.84 s without; on Zen 4 both take the same time. Any
// thread may call it; it costs a nanosecond.
#pragma once

namespace traceloom {

#if defined(__x86_64__)
inline void leave_wide_registers() {
  static const bool has_avx = __builtin_cpu_supports("avx") != 0;
  // The instruction leaves the lower halves unchanged, so the compiler need not know of it.
  if (has_avx) __asm__ volatile("vzeroupper");
}
#else
inline void leave_wide_registers() {}
#endif

}  // namespace traceloom
