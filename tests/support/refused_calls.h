// A process in which the system refuses some calls, as other file systems do.
//
//   run_child([&] {
//     refuse_nameless_files();          // for good, in this process and its children
//     ...
//   });
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace traceloom {

namespace detail {

// `action` of seccomp for calls of this number whose third argument has one of the bits; 0: any.
inline void filter_call(std::uint32_t number, std::uint32_t bits, std::uint32_t action) {
  constexpr auto kWord = BPF_LD | BPF_W | BPF_ABS;
  const auto step = [](unsigned code, unsigned if_not, std::uint32_t value) {
    return sock_filter{static_cast<std::uint16_t>(code), 0, static_cast<std::uint8_t>(if_not),
                       value};
  };
  std::array<sock_filter, 6> code{
      step(kWord, 0, offsetof(seccomp_data, nr)),
      step(BPF_JMP | BPF_JEQ | BPF_K, 3, number),
      step(kWord, 0, offsetof(seccomp_data, args[2])),
      bits != 0 ? step(BPF_JMP | BPF_JSET | BPF_K, 1, bits) : step(BPF_JMP | BPF_JGE | BPF_K, 1, 0),
      step(BPF_RET | BPF_K, 0, action),
      step(BPF_RET | BPF_K, 0, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<std::uint16_t>(code.size()), code.data()};
  constexpr int kNoFilters = 98;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(kNoFilters);
}

}  // namespace detail

// Simulates NFS: every file has a name from its beginning.
inline void refuse_nameless_files() {
  constexpr std::uint32_t kNameless = O_TMPFILE & ~O_DIRECTORY;
  detail::filter_call(SYS_openat, kNameless, SECCOMP_RET_ERRNO | EOPNOTSUPP);
}

// Simulates file systems that make files without a name but have no links.
inline void refuse_links() {
  detail::filter_call(SYS_linkat, 0, SECCOMP_RET_ERRNO | EXDEV);
}

// Simulates old kernels and FUSE: a rename always replaces an existing file.
inline void refuse_careful_renames() {
  detail::filter_call(SYS_renameat2, 0, SECCOMP_RET_ERRNO | EINVAL);
}

// Simulates NFS, Lustre and FUSE: room cannot be allocated before it is written to.
inline void refuse_taking_room() {
  detail::filter_call(SYS_fallocate, 0, SECCOMP_RET_ERRNO | EOPNOTSUPP);
}

// Simulates the limit of processes.
inline void refuse_threads() {
  detail::filter_call(SYS_clone3, 0, SECCOMP_RET_ERRNO | EAGAIN);
}

// A SIGKILL where a file with its first text is about to get its name.
inline void die_at_naming() {
  detail::filter_call(SYS_linkat, 0, SECCOMP_RET_KILL_PROCESS);
  detail::filter_call(SYS_renameat2, 0, SECCOMP_RET_KILL_PROCESS);
}

}  // namespace traceloom
