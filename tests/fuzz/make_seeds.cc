// Cuts a real recording into seeds for the fuzzers: make_seeds PROFILE FOLDER. Each fuzzer finds
// its own in FOLDER/<its name>.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "collector/profile/profile_reader.h"
#include "proto/frame.h"
#include "proto/profile.pb.h"
#include "proto/summary.pb.h"

namespace utlz {
namespace {

// As many frames of each type as tell one from another.
constexpr int kFramesOfAType = 3;
// Longer payloads are left to the fuzzers that need whole ones: what libFuzzer mutates is short.
constexpr size_t kMostBytes = 60'000;

class Seeds {
 public:
  explicit Seeds(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void Add(const std::string& fuzzer, const std::string& bytes) {
    if (bytes.size() > kMostBytes) return;
    const std::filesystem::path folder = folder_ / fuzzer;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / ("seed-" + std::to_string(counts_[fuzzer]++)), std::ios::binary)
        << bytes;
  }
  int count() const {
    int all = 0;
    for (const auto& [fuzzer, count] : counts_) all += count;
    return all;
  }

 private:
  std::filesystem::path folder_;
  std::map<std::string, int> counts_;
};

template <typename Number>
std::string BytesOf(Number number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}

// As fuzz_model cuts its input.
std::string ModelFrame(const FrameView& frame) {
  return BytesOf(static_cast<uint8_t>(frame.type)) + BytesOf(static_cast<uint8_t>(frame.source)) +
         BytesOf(static_cast<uint16_t>(frame.payload.size())) + std::string(frame.payload);
}

// As fuzz_ring reads its steps: an honest frame, then all are read.
std::string RingSteps(const FrameView& frame) {
  return BytesOf(uint8_t{0}) + BytesOf(static_cast<uint8_t>(frame.type)) +
         BytesOf(static_cast<uint16_t>(frame.payload.size())) + std::string(frame.payload) +
         BytesOf(uint8_t{5});
}

// As fuzz_profile reads its input: a byte, then what follows the file's header.
std::string ProfileFrame(const FrameView& frame) {
  FrameHeader header{static_cast<uint32_t>(frame.payload.size()), frame.type, 0, frame.source, 0};
  header.checksum = FrameChecksum(header, frame.payload.data());
  std::string bytes = BytesOf(uint8_t{1}) + BytesOf(header) + std::string(frame.payload);
  bytes.resize(1 + FrameBytes(header.payload_bytes));
  return bytes;
}

void AddNames(const FrameView& frame, Seeds* seeds) {
  Strings strings;
  if (!strings.ParseFromArray(frame.payload.data(), static_cast<int>(frame.payload.size()))) return;
  for (const std::string& name : strings.values()) seeds->Add("fuzz_kernel_name", name);
}

// Whole, and cut to a few of everything where it is too long.
void AddSummary(const FrameView& frame, Seeds* seeds) {
  constexpr int kMost = 4;
  Summary summary;
  if (!summary.ParseFromArray(frame.payload.data(), static_cast<int>(frame.payload.size()))) return;
  seeds->Add("fuzz_summary", summary.SerializeAsString());
  const auto cut = [](auto* list) {
    if (list->size() > kMost) list->DeleteSubrange(kMost, list->size() - kMost);
  };
  cut(summary.mutable_kernels());
  cut(summary.mutable_timeline());
  cut(summary.mutable_kernel_activity());
  for (TimelineSeries& series : *summary.mutable_timeline()) {
    series.mutable_value()->Truncate(std::min(kMost, series.value_size()));
  }
  for (KernelActivity& activity : *summary.mutable_kernel_activity()) {
    activity.mutable_busy_share()->Truncate(std::min(kMost, activity.busy_share_size()));
  }
  seeds->Add("fuzz_summary", summary.SerializeAsString());
}

void AddFrame(const FrameView& frame, Seeds* seeds) {
  if (frame.payload.size() <= UINT16_MAX) seeds->Add("fuzz_ring", RingSteps(frame));
  seeds->Add("fuzz_profile", ProfileFrame(frame));
  if (frame.type == FRAME_LAUNCHES) seeds->Add("fuzz_launches", std::string(frame.payload));
  if (frame.type == FRAME_STRINGS) AddNames(frame, seeds);
}

// Of a plain decoder, of one with experts, and of one with latent attention.
void AddModels(Seeds* seeds) {
  const std::string shape =
      R"("hidden_size": 64, "intermediate_size": 256, "num_attention_heads": 8,
         "num_key_value_heads": 2, "num_hidden_layers": 4, "vocab_size": 1000)";
  seeds->Add("fuzz_decoder_config", R"({"model_type": "llama", )" + shape + "}");
  seeds->Add("fuzz_decoder_config",
             R"({"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2, )" +
                 shape + "}");
  seeds->Add("fuzz_decoder_config",
             R"({"model_type": "deepseek_v3", "first_k_dense_replace": 1, "kv_lora_rank": 32,
                 "moe_intermediate_size": 32, "n_routed_experts": 8, "n_shared_experts": 1,
                 "num_experts_per_tok": 2, "q_lora_rank": 48, "qk_nope_head_dim": 8,
                 "qk_rope_head_dim": 4, "v_head_dim": 8, )" +
                 shape + "}");
}

// A whole run in miniature: the first frames of every type, in their order.
int MakeSeeds(ProfileReader* reader, Seeds* seeds) {
  std::map<uint16_t, int> taken;
  std::string run;
  for (FrameView frame; reader->Next(&frame);) {
    if (frame.type == FRAME_SUMMARY) AddSummary(frame, seeds);
    if (taken[frame.type]++ >= kFramesOfAType) continue;
    AddFrame(frame, seeds);
    if (frame.payload.size() <= UINT16_MAX && run.size() + frame.payload.size() < kMostBytes) {
      run += ModelFrame(frame);
      seeds->Add("fuzz_model", run);
    }
  }
  // What the attach loader reads of a process: this one.
  std::ifstream maps("/proc/self/maps", std::ios::binary);
  seeds->Add("fuzz_attach", std::string(std::istreambuf_iterator<char>(maps), {}));
  std::ifstream program("/proc/self/exe", std::ios::binary);
  std::string head(4096, '\0');
  program.read(head.data(), static_cast<std::streamsize>(head.size()));
  seeds->Add("fuzz_attach", head);
  AddModels(seeds);
  return seeds->count() > 0 ? 0 : 1;
}

int Run(const char* profile, const char* folder) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(profile);
  if (!reader.ok()) {
    std::fprintf(stderr, "%s\n", std::string(reader.status().message()).c_str());
    return 1;
  }
  Seeds seeds(folder);
  return MakeSeeds(&*reader, &seeds);
}

}  // namespace
}  // namespace utlz

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "make_seeds PROFILE FOLDER\n");
    return 2;
  }
  return utlz::Run(argv[1], argv[2]);
}
