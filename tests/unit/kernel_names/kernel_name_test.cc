#include "collector/kernel_names/kernel_name.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>

#include "collector/kernel_names/bounded_demangle.h"
#include "collector/kernel_names/kernel_class.h"

namespace utlz {
namespace {

std::string Short(std::string_view mangled) {
  return ShortenKernelName(DemangleKernelName(mangled));
}

TEST(KernelNameTest, ShortensPyTorchToWhatTells) {
  EXPECT_EQ(Short("_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_15CUDAFunctor_addIN3c108"
                  "BFloat16EEESt5arrayIPcLm3EEEEviT0_T1_"),
            "vectorized<CUDAFunctor_add<BFloat16>>");
  EXPECT_EQ(
      Short("_ZN2at6native29vectorized_elementwise_kernelILi8EZZZNS0_18GeluCUDAKernelImplERNS_"
            "18TensorIteratorBaseENS0_8GeluTypeEENKUlvE0_clEvENKUlvE2_clEvEUlN3c108BFloat16EE_"
            "St5arrayIPcLm2EEEEviT0_T1_"),
      "vectorized<GeluCUDAKernelImpl(BFloat16)>");
  EXPECT_EQ(
      Short("_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastIZZZNS0_"
            "23direct_copy_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE1_clEvENKUlvE10_clEvEUlN"
            "3c108BFloat16EE_EEvS4_RKT_EUliE_EEviT1_"),
      "elementwise<direct_copy_kernel_cuda(BFloat16)>");
  EXPECT_EQ(
      Short("_ZN2at6native53_GLOBAL__N__21739cd4_20_layer_norm_kernel_cu_9c5ada8a28vectorized_"
            "layer_norm_kernelIN3c108BFloat16EfLb0EEEviT0_PKT_S8_S8_PS5_S9_PS6_"),
      "vectorized_layer_norm_kernel<BFloat16, float>");
}

TEST(KernelNameTest, LeavesPlainNamesAlone) {
  EXPECT_EQ(Short("nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN"),
            "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN");
  EXPECT_EQ(Short("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(Short(""), "");
}

TEST(KernelNameTest, HandlesOperatorsAndOddBrackets) {
  EXPECT_EQ(ShortenKernelName("void ns::f<&ns::operator< >(int)"), "f<operator<>");
  for (const char* odd :
       {"<<<<", ">>>>", "((((", "f<", "f<a,b", "operator", "operator()", "::", "a::", "void ",
        "{lambda(", "f<{lambda(int", "f<g::{lambda()#1}>", "(", "f(("}) {
    EXPECT_LE(ShortenKernelName(odd).size(), kMaxShortNameBytes) << odd;
  }
}

TEST(KernelNameTest, SurvivesAnything) {
  std::mt19937 random(5);
  constexpr std::string_view kAlphabet = "ab<>(){}[],: &*#operatorlambda";
  for (int round = 0; round < 3000; ++round) {
    std::string name;
    for (uint64_t length = random() % 200; length > 0; --length) {
      name += kAlphabet[random() % kAlphabet.size()];
    }
    EXPECT_LE(ShortenKernelName(name).size(), kMaxShortNameBytes);
  }
  EXPECT_LE(ShortenKernelName(std::string(200000, '<')).size(), kMaxShortNameBytes);
}

// Each argument names the one before it twice: a hundred bytes that would demangle to gigabytes.
TEST(KernelNameTest, BoundsNamesThatExplode) {
  std::string name = "_Z1fI1PI1AS1_E";
  constexpr std::string_view kDigits = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (size_t i = 1; i < kDigits.size(); ++i) {
    const std::string reference = std::string("S") + kDigits[i] + "_";
    name += "S0_I" + reference + reference + "E";
  }
  name += "Evv";
  EXPECT_FALSE(BoundedDemangle(name, kMaxDemangledNameBytes).has_value());
  EXPECT_LE(DemangleKernelName(name).size(), kMaxDemangledNameBytes);
}

// "S_", "S0_", "S1_", … as the mangling counts.
std::string Reference(int index) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string digits;
  for (int left = index - 1; left >= 0; left = left / 36 - 1) {
    digits.insert(digits.begin(), kDigits[static_cast<size_t>(left % 36)]);
    if (left < 36) break;
  }
  return "S" + (index == 0 ? "" : digits) + "_";
}

// f<A<char, char>, A<S1_, S1_>, A<S2_, S2_>, …> with a pack expansion of the last as return type:
// to find the pack, the demangler walks all of them as a tree, and prints nothing.
std::string PackInSubstitutions(int levels) {
  std::string name = "_Z1fI1AIccE";
  for (int i = 1; i < levels; ++i) name += "S0_I" + Reference(i) + Reference(i) + "E";
  return name + "EDp" + Reference(levels) + "v";
}

// Each level of template arguments in a conversion operator is parsed twice.
std::string NestedConversions(int levels) {
  std::string name = "_ZN1AcvT_";
  for (int i = 0; i < levels; ++i) name += "IT_";
  return name + std::string(static_cast<size_t>(levels), 'E') + "Ev";
}

// Without a bound of the work these do not come back.
// Names of a few bytes for which libstdc++'s parser goes round without end.
constexpr const char* kEndlessNames[] = {"_Z1fDTsrcED", "_ZcvDTsrc1fED", "_Z1fDTplsrcED",
                                         "_ZcvDTsrcED"};

TEST(KernelNameTest, GivesUpNamesThatTheDemanglerNeverFinishes) {
  for (const char* name : kEndlessNames) {
    EXPECT_FALSE(BoundedDemangle(name, kMaxDemangledNameBytes).has_value()) << name;
  }
  EXPECT_EQ(BoundedDemangle("_Z1fi", kMaxDemangledNameBytes), "f(int)");
}

TEST(KernelNameTest, GivesThemUpOnAThreadThatBlocksSignals) {
  std::thread([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    EXPECT_FALSE(BoundedDemangle(kEndlessNames[0], kMaxDemangledNameBytes).has_value());
  }).join();
}

// In a process of its own: afterwards nothing is demangled in it.
TEST(KernelNameTest, ManyNamesThatItNeverFinishesCostASecondInAll) {
  EXPECT_EXIT(
      {
        for (int i = 0; i < 20000; ++i) BoundedDemangle(kEndlessNames[i % 4], 100);
        const bool given_up = !BoundedDemangle("_Z1fi", 100).has_value();
        timespec used{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        std::_Exit(given_up && used.tv_sec < 60 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(KernelNameTest, BoundsWorkThatPrintsNothing) {
  for (const int levels : {26, 60, 80}) {
    EXPECT_FALSE(BoundedDemangle(PackInSubstitutions(levels), kMaxDemangledNameBytes).has_value());
    EXPECT_LE(DemangleKernelName(PackInSubstitutions(levels)).size(), kMaxDemangledNameBytes);
    EXPECT_FALSE(BoundedDemangle(NestedConversions(levels), kMaxDemangledNameBytes).has_value());
    EXPECT_EQ(DemangleKernelName(NestedConversions(levels)), "A");
  }
}

TEST(KernelNameTest, DemanglesPacksAndReferencesOfRealNames) {
  EXPECT_EQ(BoundedDemangle(PackInSubstitutions(1), 1000), "A... f<A<char, char> >()");
  EXPECT_EQ(BoundedDemangle("_Z1fIJ1AIiES0_IfES1_EEvDpRKT_", 1000),
            "void f<A<int>, A<float>, A<int> >(A<int> const&, A<float> const&, A<int> const&)");
  EXPECT_EQ(BoundedDemangle("_ZN1AcvPT_IiEEv", 1000), "A::operator int*<int>()");
}

TEST(KernelNameTest, DemanglesAndRefuses) {
  EXPECT_EQ(BoundedDemangle("_Z1fi", 100), "f(int)");
  EXPECT_FALSE(BoundedDemangle("_Z1fi", 5).has_value());
  EXPECT_FALSE(BoundedDemangle("not mangled", 100).has_value());
  EXPECT_EQ(DemangleKernelName(std::string("_Z1f\0i", 6)), std::string("_Z1f\0i", 6));
}

TEST(KernelNameTest, NamesWhatIsTooLongToDemangle) {
  std::string name = "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalI";
  for (int i = 0; i < 400; ++i) name += "Li1E";
  name += "EEEEvT_";
  EXPECT_EQ(DemangleKernelName(name), "cutlass::device_kernel<GemmUniversal>");
}

TEST(KernelNameTest, MakesEqualNamesDifferent) {
  std::vector<std::string> names = {"a", "b", "a"};
  MakeUnique(&names);
  EXPECT_EQ(names, (std::vector<std::string>{"a #1", "b", "a #2"}));
}

TEST(KernelClassTest, ReadsDataTypesFromNames) {
  EXPECT_EQ(TensorDataTypeOf("nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN"), "bf16");
  EXPECT_EQ(TensorDataTypeOf("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NTN"), "fp16");
  EXPECT_EQ(TensorDataTypeOf("nvjet_sm90_qqtst_128x256_64x4"), "fp8");
  EXPECT_EQ(TensorDataTypeOf("nvjet_sm"), "");
  EXPECT_EQ(TensorDataTypeOf("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"),
            "bf16");
  EXPECT_EQ(TensorDataTypeOf("sm80_xmma_gemm_tf32f32_tf32f32_f32_nn_n"), "tf32");
  EXPECT_EQ(TensorDataTypeOf("cutlass_80_tensorop_d884gemm_64x32_16x4_nn_align1"), "fp64_tensor");
  EXPECT_EQ(TensorDataTypeOf("cutlass_80_tensorop_s1688gemm_256x128_16x3_nn_align4"), "tf32");
  EXPECT_EQ(TensorDataTypeOf("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn"), "fp16");
  EXPECT_EQ(TensorDataTypeOf("my_kernel"), "");
  EXPECT_FALSE(IsOfSomeHalfType("my_kernel"));
  EXPECT_FALSE(IsOfSomeHalfType("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"));
}

TEST(KernelClassTest, KnowsCommunication) {
  EXPECT_TRUE(
      IsCommunicationKernel("_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgs"));
  EXPECT_EQ(CollectiveOf("_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgs"),
            "AllReduce");
  EXPECT_EQ(CollectiveOf("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL"), "ReduceScatter");
  EXPECT_FALSE(IsCommunicationKernel("nvjet_sm90_tst_128x256"));
}

TEST(KernelClassTest, TrainingIsToldByBackwardPassesAndOptimizers) {
  for (const char* name :
       {"sdpa_sm90_flash_bprop_wgmma_f16_knob_26", "_ZN2at6native29vectorized_layer_norm_backward",
        "sm90_xmma_wgrad_implicit_gemm_bf16", "_ZN2at6native25multi_tensor_apply_kernel",
        "flash_bwd_kernel"}) {
    EXPECT_TRUE(IsTrainingKernel(name)) << name;
  }
  for (const char* name : {"sdpa_sm90_flash_fprop_wgmma_f16", "sm90_xmma_fprop_implicit_gemm_bf16",
                           "nvjet_hsh_64x8_64x16_4x1_v_bz_TNT", "fmha_cutlassF_bf16"}) {
    EXPECT_FALSE(IsTrainingKernel(name)) << name;
  }
}

}  // namespace
}  // namespace utlz
