#include "tests/fuzz/protocol_seeds.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/live/live_message.h"
#include "proto/attach_control.h"
#include "proto/ring_abi.h"

namespace utlz {
namespace {

template <typename Value>
std::string BytesOf(const Value& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string Bytes(const std::vector<uint8_t>& bytes) {
  return std::string(bytes.begin(), bytes.end());
}

void AddPair(const AddSeed& add) {
  // For a message: step, connection, shape (bit 0: a request, bits 2 to 4: descriptors, bits 5 to
  // 7: its verb), length.
  constexpr uint8_t kOnConnection = 0, kOnPair = 1, kServe = 4;
  const auto shape = [](int verb, int descriptors) {
    return static_cast<uint8_t>(verb << 5 | descriptors << 2 | 1);
  };
  for (const int descriptors : {0, 1, 3, 4, 6}) {
    add("fuzz_control_socket", Bytes({kOnConnection, 0, shape(2, descriptors), 0, kServe, 0}));
    add("fuzz_control_socket", Bytes({kOnPair, 0, shape(1, descriptors), 0, kServe, 0}));
    add("fuzz_control_socket", Bytes({kOnConnection, 0, shape(2, descriptors), 0}));
  }
}

void AddHellos(const AddSeed& add) {
  // Shape of the hello (1: honest, 3: of another size), the number of files, and for each its kind
  // and what that kind reads.
  const std::string empty_ring = Bytes({3, 0, 0, 0, 0, 0, 0, 0});
  add("fuzz_agent_hello", Bytes({1, 1}) + empty_ring);
  add("fuzz_agent_hello", Bytes({1, 2}) + empty_ring + empty_ring);
  add("fuzz_agent_hello", Bytes({1, 6, 0, 1, 0, 1, 0, 1}));
  add("fuzz_agent_hello", Bytes({3}) + BytesOf(uint64_t{1} << 63) + Bytes({1, 130, 0, 0, 1, 0}));
  add("fuzz_agent_hello", Bytes({8, 1, 2, 3, 4, 1, 0}));
}

void AddWelcomes(const AddSeed& add) {
  AgentWelcome welcome = {};
  welcome.accepted = 1;
  welcome.overhead_budget_ppm = 10'000;
  // When it is, when the window begins, how long it is; launches until then, and what follows.
  const std::string window = BytesOf(uint64_t{1} << 62) + BytesOf(uint64_t{1'000'000}) +
                             BytesOf(uint32_t{25'000'000}) + BytesOf(uint16_t{1000}) +
                             BytesOf(uint32_t{1'500'000});
  add("fuzz_agent_welcome", Bytes({1}) + BytesOf(welcome) + Bytes({0}) + window + window);
  add("fuzz_agent_welcome", Bytes({16, 1, 2, 3, 4, 5, 6, 7, 8, 1}));
}

void AddPayloads(const AddSeed& add) {
  // A schema of three entries (flags, type, name, offset), then a payload that has them.
  const std::string schema = Bytes({0, 3, 0, 18, 2, 0, 0, 5, 3, 8, 0, 22, 0, 16, 0, 0, 1});
  const std::string payload = Bytes({1, 1, 1, 25}) + std::string(24, '\x01');
  add("fuzz_payload_schemas", schema + payload);
  add("fuzz_payload_schemas", schema + Bytes({1, 1, 1, 0}) + std::string(24, '\x01'));
}

void AddRecords(const AddSeed& add) {
  // Kernels one by one, a copy, many kernels, the end of a buffer, and again.
  std::string buffer;
  for (int i = 0; i < 20; ++i) buffer += Bytes({10, 0});
  buffer += Bytes({1, 12, 14, 255, 2, 9, 15, 80, 0, 0});
  add("fuzz_record_walker", Bytes({2}) + buffer + Bytes({2}) + buffer + Bytes({9}) + buffer);
}

void AddSockets(const AddSeed& add) {
  const std::string line = "0000000000000000: 00000002 00000000 00010000 0005 01 31337 @";
  add("fuzz_agent_link", "Num       RefCount Protocol Flags    Type St Inode Path\n" + line +
                             kPairNamePrefix + "4711-0123456789abcdef\n" + line +
                             kListenerNamePrefix + "4711-fedcba9876543210\n");
  ControlAnswer answer = {};
  answer.magic = kControlMagic;
  answer.version = kControlVersion;
  answer.state = static_cast<uint32_t>(ControlState::kTracing);
  add("fuzz_agent_link", BytesOf(answer));
}

void AddFilters(const AddSeed& add) {
  const std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_STMT(BPF_MISC | BPF_TAX, 0),
      BPF_STMT(BPF_STX, 5),
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 2),
      BPF_STMT(BPF_LD | BPF_MEM, 5),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 9, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  std::string bytes;
  for (const sock_filter& step : filter) bytes += BytesOf(step);
  add("fuzz_seccomp", bytes);
}

void AddCeilings(const AddSeed& add) {
  add("fuzz_ceilings", R"({"schema": "utlz.ceilings/1",
      "uuid": "GPU-01234567-89ab-cdef-0123-456789abcdef", "name": "NVIDIA H200",
      "driver_version": "580.82", "utlz_version": "0.1.0", "time_ns": 1, "idle": true,
      "copy_bytes_per_second": 4.2e12, "triad_bytes_per_second": 4.1e12,
      "rates": [{"data_type": "bf16", "flops_per_second": 8e14, "sm_clock_hz": 1.9e9,
                 "library": "cuBLASLt 13.0"}]})");
  std::string name;
  for (int i = 0; i < 200; ++i) name += "é";
  add("fuzz_ceilings", R"({"schema": "utlz.ceilings/1",
      "uuid": "GPU-01234567-89ab-cdef-0123-456789abcdef", "name": "a)" +
                           name + "\"}");
}

void AddLiveSnapshots(const AddSeed& add) {
  add("fuzz_live", EncodeLive(LiveSnapshot()));
  LiveSnapshot snapshot;
  snapshot.set_collector_pid(7);
  snapshot.set_step_seconds(0.03);
  LiveDevice* const device = snapshot.add_devices();
  device->set_uuid("GPU-0");
  device->set_hfu(0.4);
  device->add_causes()->set_name("idle_launch");
  device->mutable_causes(0)->set_share(1);
  snapshot.add_processes()->set_pid(5);
  LiveKernel* const kernel = snapshot.add_kernels();
  kernel->set_id(3);
  kernel->set_name("gemm");
  kernel->set_device_uuid("GPU-0");
  kernel->add_pids(5);
  kernel->set_time_share(0.5);
  kernel->set_bound(BOUND_MEMORY);
  add("fuzz_live", EncodeLive(snapshot));
  LiveOwner* const layer = snapshot.add_layers();
  layer->set_id(1);
  layer->set_kind("layer");
  layer->set_name("blocks.*.mlp");
  layer->set_module_class("Linear");
  layer->set_instances(12);
  layer->set_time_share(0.4);
  layer->set_mean_time_ns(9000);
  LiveOwner* const line = snapshot.add_lines();
  line->set_kind("line");
  line->set_name("train.py:41 step");
  line->set_roof_share(0.5);
  line->set_flops_per_second(1e12);
  line->set_dram_bytes_per_second(1e9);
  snapshot.set_owners_reason("process 5 has launches without stacks");
  add("fuzz_live", EncodeLive(snapshot));
  add("fuzz_live", EncodeLive(snapshot) + EncodeLive(snapshot));
}

}  // namespace

std::string PairOf(const std::string& first, const std::string& second) {
  return BytesOf(static_cast<uint16_t>(first.size())) + first + second;
}

void AddProtocolSeeds(const AddSeed& add) {
  AddPair(add);
  AddHellos(add);
  AddWelcomes(add);
  AddPayloads(add);
  AddRecords(add);
  AddSockets(add);
  AddFilters(add);
  AddCeilings(add);
  AddLiveSnapshots(add);
}

}  // namespace utlz
