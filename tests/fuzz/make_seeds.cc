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
#include "proto/history.pb.h"
#include "proto/profile.pb.h"
#include "proto/summary.pb.h"
#include "tests/fuzz/protocol_seeds.h"

namespace utlz {
namespace {

// As many frames of each type as tell one from another.
constexpr int kFramesOfAType = 3;
// Longer payloads are left to the fuzzers that need whole ones: what libFuzzer mutates is short.
constexpr size_t kMostBytes = 60'000;

// Two profiles take long with the longest frames in them.
constexpr size_t kMostBytesOfAMergedFrame = 2'000;

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

// As fuzz_run cuts its input.
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
  const std::string bytes = summary.SerializeAsString();
  seeds->Add("fuzz_summary", bytes);
  seeds->Add("fuzz_compare", PairOf(bytes, bytes));
  seeds->Add("fuzz_compare", PairOf(bytes, ""));
  seeds->Add("fuzz_compare", PairOf("", bytes));
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

// "S_", "S0_", "S1_", … up to 37 of them.
std::string Reference(int index) {
  constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return index == 0 ? "S_" : std::string("S") + kDigits[index - 1] + "_";
}

// Names that a demangler walks or parses for ever without a bound of its work: a pack expansion of
// nested substitutions, and nested template arguments in a conversion operator.
void AddHostileNames(Seeds* seeds) {
  for (const int levels : {4, 36}) {
    std::string pack = "_Z1fI1AIccE";
    for (int i = 1; i < levels; ++i) pack += "S0_I" + Reference(i) + Reference(i) + "E";
    seeds->Add("fuzz_kernel_name", pack + "EDp" + Reference(levels) + "v");
    std::string conversion = "_ZN1AcvT_";
    for (int i = 0; i < levels; ++i) conversion += "IT_";
    seeds->Add("fuzz_kernel_name",
               conversion + std::string(static_cast<size_t>(levels), 'E') + "Ev");
  }
  // The parser goes round without end.
  for (const char* name : {"_Z1fDTsrcED", "_ZcvDTsrc1fED", "_Z1fDTplsrcED", "_ZcvDTsrcED"}) {
    seeds->Add("fuzz_kernel_name", name);
  }
}

void AddFusedNames(Seeds* seeds) {
  for (const char* name :
       {"triton_poi_fused__to_copy__unsafe_view_add_native_dropout_backward_0",
        "triton_per_fused__softmax_backward_data_mul_12_0d1d2de", "triton_tem_fused___and___mm_1",
        "loop_dynamic_update_slice_convert_fusion_3", "wrapped_reduce_window_1"}) {
    seeds->Add("fuzz_fused_operations", name);
  }
}

std::string ModelFrame(uint16_t type, uint32_t source, const std::string& payload) {
  return ModelFrame({.source = source, .type = type, .offset = 0, .payload = payload});
}

// Title, locations and op_name of instructions: of a layer of Flax, of NNX, of a fusion, of a
// program.
void AddXlaInstructions(Seeds* seeds) {
  const std::string end = ",hlo_op=gemm_fusion_dot.44,unique_hlo_op_id=506806141015#";
  const std::string calls =
      "\n- /home/me/train.py:31:18[main.&lt;locals&gt;.step]\n"
      "-- /home/me/model.py:21:16[Model.__call__]\n--- /home/me/model.py:9:15[Block.__call__]";
  const std::string linen =
      "jit(step)/transpose(jvp(Model))/while/body/closed_call/checkpoint/rematted_computation/"
      "block_3/block_3.attend/...hqk,...khd->...qhd/dot_general";
  const std::vector<std::vector<std::string>> instructions = {
      {"Thunk:#name=" + linen + end, calls + "\n", linen},
      {"Thunk:#name=jit(f)/jvp()/dot_general" + end,
       calls + "\n---- /x/site-packages/flax/nnx/nn/linear.py:422:8[Linear.__call__]\n",
       "jit(f)/jvp()/dot_general"},
      {"Thunk:#name=jit(f)/Model" + end,
       calls + " head/add\n--- /home/me/model.py:10[f] jit(_take)/mul\n- a.py:1 tanh\n",
       "jit(f)/Model/jit(_take)/mul;jit(f)/Model/head/add"},
      {"XlaModule:#prefix=jit(f),hlo_module=jit_f,program_id=5974#", "", "params['w']"}};
  Strings strings;
  Stacks stacks;
  strings.add_values("");
  stacks.set_first(1);
  for (const std::vector<std::string>& texts : instructions) {
    seeds->Add("fuzz_xla_instruction", "\xbf" + texts[0] + '\0' + texts[1] + '\0' + texts[2]);
    std::string lines = texts[1];
    std::replace(lines.begin(), lines.end(), '\n', '|');
    seeds->Add("fuzz_instruction_texts",
               texts[0] + "\nx = f32[] add(y), metadata={op_name=\"" + texts[2] + "\"}\n" + lines);
    const auto first = static_cast<uint32_t>(strings.values_size());
    for (const std::string& text : texts) strings.add_values(text);
    stacks.add_parent(0);
    stacks.add_kind(STACK_FRAME_XLA_INSTRUCTION);
    stacks.add_name(first);
    stacks.add_file(first + 1);
    stacks.add_module_class(first + 2);
  }
  seeds->Add("fuzz_run", ModelFrame(FRAME_STRINGS, 1, strings.SerializeAsString()) +
                             ModelFrame(FRAME_STACKS, 1, stacks.SerializeAsString()));
}

void AddCompiledCode(Seeds* seeds) {
  const std::string operations = "aten.view, aten.add, aten.native_layer_norm";
  const std::string comment = "Source Nodes: [x, norm], Original ATen: [" + operations + "]\n";
  seeds->Add("fuzz_compiled_code",
             "# Topologically Sorted " + comment + "t_0 = async_compile.triton('t_0', '''\n\n" +
                 "    # Topologically Sorted " + comment +
                 "    # [Provenance debug handles] t_0:1\n    stream0 = get_raw_stream(0)\n" +
                 "    t_0.run(buf0, stream=stream0)\n    del buf0\n    # Unsorted " + comment +
                 "    extern_kernels.mm(buf0)\n    # " + comment +
                 "    buf1 = torch.ops.aten.mm.default(buf0)\n    return (buf1, )\n");
  CompiledCode code;
  code.set_file(1);
  for (uint32_t i = 0; i < 3; ++i) {
    code.add_line(10 * (i + 1));
    code.add_lines(i);
    code.add_operations(2);
  }
  seeds->Add("fuzz_compiled_operations", code.SerializeAsString());
  seeds->Add("fuzz_compiled_operations", operations);
  Strings strings;
  for (const char* text : {"", "/tmp/me/yj/c.py", "aten.add, aten.mul"}) strings.add_values(text);
  seeds->Add("fuzz_run", ModelFrame(FRAME_STRINGS, 1, strings.SerializeAsString()) +
                             ModelFrame(FRAME_COMPILED_CODE, 1, code.SerializeAsString()));
}

// Samples of a thread in a stack of one function.
void AddThreadStacks(Seeds* seeds) {
  Strings strings;
  for (const char* text : {"", "main", "/home/me/train.py"}) strings.add_values(text);
  Stacks stacks;
  stacks.set_first(1);
  stacks.add_parent(0);
  stacks.add_kind(STACK_FRAME_FUNCTION);
  stacks.add_name(1);
  stacks.add_file(2);
  ThreadStackBatch samples;
  samples.set_base_ns(1'767'225'600'000'000'000);
  for (int i = 0; i < 20; ++i) {
    samples.add_time_delta_ns(5'000'000);
    samples.add_stack(1);
  }
  seeds->Add("fuzz_run", ModelFrame(FRAME_STRINGS, 1, strings.SerializeAsString()) +
                             ModelFrame(FRAME_STACKS, 1, stacks.SerializeAsString()) +
                             ModelFrame(FRAME_THREAD_STACKS, 1, samples.SerializeAsString()));
}

// Strings of the highest identifiers alone, and more than once: megabytes for each few bytes.
void AddSparseStrings(Seeds* seeds) {
  std::string run;
  for (int i = 0; i < 240; ++i) {
    Strings strings;
    strings.set_first((1u << 20) - 1);
    strings.add_values("");
    run += ModelFrame(FRAME_STRINGS, static_cast<uint32_t>(i), strings.SerializeAsString());
  }
  seeds->Add("fuzz_run", run);
}

// An interval as a segment of the history holds it.
void AddHistory(Seeds* seeds) {
  HistoryInterval interval;
  interval.set_run("0123456789abcdef");
  interval.set_end_ns(1'767'225'600'000'000'000);
  interval.set_duration_ns(60'000'000'000);
  interval.set_job("python3 train.py");
  interval.set_steps(600);
  HistoryDevice* device = interval.add_device();
  device->set_uuid("GPU-1");
  for (int i = 0; i < 16; ++i) device->add_cause_seconds(i);
  device->set_kernel_seconds(50);
  device->set_flops_peak_seconds(20);
  device->set_energy_joules(3e4);
  seeds->Add("fuzz_history", interval.SerializeAsString());
}

// Types that agents may use and that nobody knows.
void AddUnknownTypes(Seeds* seeds) {
  std::string run;
  for (uint16_t type = FRAME_THREAD_STACKS + 1; type < FRAME_METRIC_SET; ++type) {
    if (type == FRAME_COMPILED_CODE) continue;
    run += ModelFrame(type, 1, std::string(100, 'x'));
  }
  seeds->Add("fuzz_run", run);
}

// A ring of zeros, which is one of padding, published whole, and read.
void AddPadding(Seeds* seeds) {
  constexpr uint64_t kRingBytes = 64 << 10;
  seeds->Add("fuzz_ring", BytesOf(uint8_t{1}) + BytesOf(kRingBytes) + BytesOf(uint8_t{5}));
}

template <typename Message, typename Change>
std::string Changed(const FrameView& frame, const Change& change) {
  Message message;
  if (!message.ParseFromArray(frame.payload.data(), static_cast<int>(frame.payload.size()))) {
    return ModelFrame(frame);
  }
  change(&message);
  const std::string payload = message.SerializeAsString();
  FrameView changed = frame;
  changed.payload = payload;
  return ModelFrame(changed);
}

// The same run of another host, or merge would refuse it as a copy, with names that have to be
// escaped.
std::string ModelFrameOfAnotherHost(const FrameView& frame) {
  if (frame.type == FRAME_RUN_START) {
    return Changed<RunStart>(frame, [](RunStart* start) { start->set_host(start->host() + "-2"); });
  }
  if (frame.type == FRAME_STRINGS) {
    return Changed<Strings>(frame, [](Strings* strings) {
      for (std::string& name : *strings->mutable_values()) name += "\"\\\x1b</script>";
    });
  }
  return ModelFrame(frame);
}

// A whole run in miniature: the first frames of every type, in their order.
int MakeSeeds(ProfileReader* reader, Seeds* seeds) {
  std::map<uint16_t, int> taken;
  std::string run, short_run, other_run;
  for (FrameView frame; reader->Next(&frame);) {
    if (frame.type == FRAME_SUMMARY) AddSummary(frame, seeds);
    if (taken[frame.type]++ >= kFramesOfAType) continue;
    AddFrame(frame, seeds);
    if (frame.payload.size() <= UINT16_MAX && run.size() + frame.payload.size() < kMostBytes) {
      run += ModelFrame(frame);
      seeds->Add("fuzz_run", run);
    }
    if (frame.payload.size() <= kMostBytesOfAMergedFrame) {
      short_run += ModelFrame(frame);
      other_run += ModelFrameOfAnotherHost(frame);
    }
  }
  seeds->Add("fuzz_merge", PairOf(short_run, other_run));
  // What the attach loader reads of a process: this one.
  std::ifstream maps("/proc/self/maps", std::ios::binary);
  seeds->Add("fuzz_attach", std::string(std::istreambuf_iterator<char>(maps), {}));
  std::ifstream program("/proc/self/exe", std::ios::binary);
  std::string head(4096, '\0');
  program.read(head.data(), static_cast<std::streamsize>(head.size()));
  seeds->Add("fuzz_attach", head);
  AddModels(seeds);
  AddHostileNames(seeds);
  AddFusedNames(seeds);
  AddCompiledCode(seeds);
  AddXlaInstructions(seeds);
  AddThreadStacks(seeds);
  AddHistory(seeds);
  AddSparseStrings(seeds);
  AddUnknownTypes(seeds);
  AddPadding(seeds);
  AddProtocolSeeds(
      [seeds](const std::string& fuzzer, const std::string& bytes) { seeds->Add(fuzzer, bytes); });
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
