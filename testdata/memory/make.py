#!/usr/bin/env python3
"""Writes the files of this folder: two ranks that train three steps, with numbers that can be worked out by hand.

  make.py FOLDER

Rank 1 keeps 65,536 bytes at metrics.py:41 in each step, and runs out of memory in a fourth one.
"""
import os, pickle, sys

MIB = 1 << 20
BASE = 0x7F0000000000
HOME = "/home/ann/llm"
TORCH = "/opt/venv/lib/python3.11/site-packages/torch"
HEAD = [{"name": "c10::cuda::CUDACachingAllocator::malloc(unsigned long)", "filename": "??", "line": 0}]


def stack(*frames):
    return HEAD + [{"name": name, "filename": file, "line": line} for name, file, line in frames]


MAIN = ("train", f"{HOME}/train.py", 88)
SITES = {
    "weight": stack(("__init__", f"{TORCH}/nn/modules/linear.py", 106), ("__init__", f"{HOME}/model.py", 31), MAIN),
    "adam": stack(("_init_group", f"{TORCH}/optim/adam.py", 177), MAIN),
    "attention": stack(("_call_impl", f"{TORCH}/nn/modules/module.py", 1784), ("attention", f"{HOME}/model.py", 57), MAIN),
    "grad": stack(("torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)", "??", 0),
                  ("torch::autograd::Engine::thread_main(std::shared_ptr<GraphTask> const&)", "??", 0)),
    "track": stack(("detach", f"{TORCH}/_tensor.py", 900), ("track", f"{HOME}/metrics.py", 41), MAIN),
}


class Device:
    """One segment of `size` bytes; blocks follow each other and are never used again."""

    def __init__(self, rank, size):
        self.rank, self.size, self.used, self.blocks, self.marks = rank, size, 0, {}, []
        self.now = 1_760_000_000_000_000
        self.entries = []
        self.record("segment_alloc", BASE, size)

    def record(self, action, addr, size, site=None):
        self.now += 100
        entry = {"action": action, "device_free" if action == "oom" else "addr": addr, "size": size, "stream": 0,
                 "time_us": self.now}
        if site:
            entry["frames"] = SITES[site]
        self.entries.append(entry)

    def alloc(self, size, site):
        addr = BASE + self.used
        self.used += -(-size // 512) * 512
        self.blocks[addr] = (size, site)
        self.record("alloc", addr, size, site)
        return addr

    def free(self, addr):
        size, site = self.blocks.pop(addr)
        self.record("free_requested", addr, size, site)
        self.record("free_completed", addr, size, site)

    def step(self, number):
        self.marks.append({"name": f"ProfilerStep#{number}", "stage": "START", "device": self.rank, "time_us": self.now + 50})
        held = self.alloc((3 + self.rank) * MIB, "attention")
        grad = self.alloc(MIB, "grad")
        if self.rank == 1:
            self.alloc(65_536, "track")
        self.free(held)
        self.free(grad)
        self.marks.append({"name": f"ProfilerStep#{number}", "stage": "END", "device": self.rank, "time_us": self.now + 50})

    def snapshot(self):
        blocks, at = [], BASE
        for addr in sorted(self.blocks):
            size, site = self.blocks[addr]
            if addr > at:
                blocks.append({"address": at, "size": addr - at, "requested_size": 0, "state": "inactive", "frames": []})
            at = addr + -(-size // 512) * 512
            blocks.append({"address": addr, "size": at - addr, "requested_size": size, "state": "active_allocated",
                           "frames": SITES[site]})
        blocks.append({"address": at, "size": BASE + self.size - at, "requested_size": 0, "state": "inactive", "frames": []})
        segment = {"device": self.rank, "address": BASE, "total_size": self.size, "stream": 0, "segment_type": "large",
                   "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks}
        return {"segments": [segment], "device_traces": [self.entries if i == self.rank else [] for i in range(2)],
                "allocator_settings": {"expandable_segments": False}, "external_annotations": self.marks}


def report(rank):
    rule = "-" * 80
    line = "  ".join("=" * w for w in (18, 10, 15, 12, 11))
    head = "{:18}  {:10}  {:15}  {:12}  {}"
    rows = [(f"Transformer.layers.{i}", (2 * MIB, (3 + rank + i) * MIB)) for i in range(2)]
    out = [f"Iteration 2 training_step Peak FSDP memory stats: ", rule, line[20:],
           head.format("", "Device", "Sharded Param", "Activation", "Total")[20:], line[20:],
           head.format("", f"cuda:{rank}", f"{2 * MIB} B", f"{(4 + rank) * MIB} B", f"{(6 + rank) * MIB} B")[20:], line[20:],
           rule, f"Iteration 2 training_step Modulewise FSDP memory stats: ", rule]
    for name, (param, act) in rows:
        out += [f"Module:  {name}", line, head.format("State & Call", "Device", "Sharded Param", "Activation", "Total"), line,
                head.format("Peak Forward # 1", f"cuda:{rank}", f"{param / MIB} MiB", f"{act / MIB} MiB",
                            f"{(param + act) / MIB} MiB"), line]
    return "\n".join(out + [rule]) + "\n"


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def main(folder):
    for rank in range(2):
        device = Device(rank, 32 * MIB)
        device.alloc(2 * MIB, "weight")
        for number in range(3):
            if number == 2:
                write(folder, f"cuda_alloc_rank_{rank}.training_step.2.start.pickle", pickle.dumps(device.snapshot(), 4))
            device.step(number)
            if number == 0:
                device.alloc(4 * MIB, "adam")
        write(folder, f"cuda_alloc_rank_{rank}.training_step.2.end.pickle", pickle.dumps(device.snapshot(), 4))
        write(folder, f"fsdp_mem_rank_{rank}_training_step_2.log", report(rank).encode())
    device.record("oom", 3 * MIB, 20 * MIB, "attention")
    write(os.path.join(folder, "oom"), "snapshot_oom_rank-1.pickle", pickle.dumps(device.snapshot(), 4))


if __name__ == "__main__":
    main(sys.argv[1])
