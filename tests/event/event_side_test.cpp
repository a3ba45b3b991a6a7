#include "event/event.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("event_side: a device's work, waits and copies of host ranges are of the device") {
  for (const char* category :
       {"kernel", "Kernel", "gpu_memcpy", "gpu_user_annotation", "cuda_sync", "mtia_ccp_events",
        "hpu_op", "collective_comm", "a,KERNEL", "gpu_memset,"}) {
    CAPTURE(category);
    CHECK(event_side(category) == EventSide::device);
  }
}

TEST_CASE("event_side: all else is of the host, calls of a device's runtime too") {
  for (const char* category : {"", "user_annotation", "cpu_op", "cuda_runtime", "overhead",
                               "python_function", "kernels", "a,b", ",", "gpu"}) {
    CAPTURE(category);
    CHECK(event_side(category) == EventSide::host);
  }
}
