#include "record/host/proc.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom::record;

TEST_CASE("proc_text: busy time of all CPUs is all but idle and waiting") {
  // The 100 ticks of a guest are among the 400 of user.
  const auto cpu = parse_cpu_times("cpu  400 20 100 1000 50 3 7 20 100 0\ncpu0 1 2 3 4\n");
  REQUIRE(cpu);
  CHECK(cpu->total == 1600);
  CHECK(cpu->busy == 550);
}

TEST_CASE("proc_text: old kernels have fewer times, and what is no such file has none") {
  const auto old = parse_cpu_times("cpu  4 3 2 1\n");
  REQUIRE(old);
  CHECK(old->total == 10);
  CHECK(old->busy == 9);
  CHECK_FALSE(parse_cpu_times("cpu  4 3\n"));
  CHECK_FALSE(parse_cpu_times("intr 4 3 2 1\n"));
  CHECK_FALSE(parse_cpu_times(""));
}

TEST_CASE("proc_text: memory and swap in bytes") {
  const auto memory = parse_meminfo(
      "MemTotal:       24682416 kB\nMemFree:         7867712 kB\nMemAvailable:   21692160 kB\n"
      "Buffers:          337540 kB\nHugePages_Total:       0\nSwapTotal:       1000 kB\n"
      "SwapFree:         400 kB\n");
  REQUIRE(memory);
  CHECK(memory->total == 25274793984);
  CHECK(memory->available == 22212771840);
  CHECK(memory->swap_total == 1024000);
  CHECK(memory->swap_free == 409600);
}

TEST_CASE("proc_text: where the kernel does not say what is available, free and cached are") {
  const auto memory =
      parse_meminfo("MemTotal: 100 kB\nMemFree: 10 kB\nBuffers: 5 kB\nCached: 20 kB\n");
  REQUIRE(memory);
  CHECK(memory->available == 35 * 1024);
  CHECK(memory->swap_total == 0);
  CHECK_FALSE(parse_meminfo("MemFree: 10 kB\n"));
  CHECK_FALSE(parse_meminfo("MemTotal: many kB\n"));
}

TEST_CASE("proc_text: disks count in sectors of 512 bytes") {
  const auto disks = parse_diskstats(
      "   8       0 sda 100 1 2048 30 50 2 4096 60 0 1234 90 0 0 0 0 5 6\n"
      "   8       1 sda1 7 0 56 2 0 0 0 0 0 3 2\n");
  REQUIRE(disks.size() == 2);
  CHECK(disks[0].device == "sda");
  CHECK(disks[0].reads == 100);
  CHECK(disks[0].read_bytes == 1048576);
  CHECK(disks[0].writes == 50);
  CHECK(disks[0].written_bytes == 2097152);
  CHECK(disks[0].busy_ms == 1234);
  CHECK(disks[1].device == "sda1");
}

TEST_CASE("proc_text: a line of a disk that is cut is left out") {
  CHECK(parse_diskstats("8 0 sda 100 1 2048 30 50 2 4096 60 0").empty());
  CHECK(parse_diskstats("8 0\nnonsense\n\n").empty());
}

TEST_CASE("proc_text: network interfaces, in the form of old kernels as well") {
  const auto nics = parse_net_dev(
      "Inter-|   Receive                            |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
      "    lo:   16335     145    0    0    0     0          0         0    16336     145 0 0 0 0 "
      "0 0\n"
      "eth0:162780158 6429 0 0 0 0 0 0 374558 4908 0 0 0 0 0 0\n"
      "eth0:1: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0\n"
      "  cut: 1 2 3\n");
  REQUIRE(nics.size() == 3);
  CHECK(nics[0].nic == "lo");
  CHECK(nics[0].received_bytes == 16335);
  CHECK(nics[0].sent_bytes == 16336);
  CHECK(nics[1].nic == "eth0");
  CHECK(nics[1].received_bytes == 162780158);
  CHECK(nics[1].sent_bytes == 374558);
  CHECK(nics[2].nic == "eth0:1");
}

TEST_CASE("proc_text: a process whose name holds blanks and brackets") {
  const auto process = parse_process_stat(
      "5982 (py (main) 3) S 5974 5974 2508 0 -1 4194304 100 0 0 0 250 50 7 8 20 0 12 0 5087159 "
      "3133440 380 18446744073709551615 1 1 0");
  REQUIRE(process);
  CHECK(process->pid == 5982);
  CHECK(process->name == "py (main) 3");
  CHECK(process->state == 'S');
  CHECK(process->parent == 5974);
  CHECK(process->cpu_ticks == 300);  // not those of children that have ended
  CHECK(process->start_ticks == 5087159);
  CHECK(process->vms_bytes == 3133440);
  CHECK(process->rss_pages == 380);
}

TEST_CASE("proc_text: a process that is cut, or none") {
  CHECK_FALSE(parse_process_stat("5982 (py) S 5974 5974"));
  CHECK_FALSE(parse_process_stat("5982 (py"));
  CHECK_FALSE(parse_process_stat(") ("));
  CHECK_FALSE(parse_process_stat(""));
  CHECK_FALSE(parse_process_stat("x (py) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"));
}

TEST_CASE("proc_text: memory of a process in pages") {
  const auto memory = parse_statm("765 432 404 5 0 123 0\n");
  REQUIRE(memory);
  CHECK(memory->vms_pages == 765);
  CHECK(memory->rss_pages == 432);
  CHECK_FALSE(parse_statm("765"));
}
