// Kernels' code is found in a library that a process has mapped: this process.
#include "collector/session/code_search.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "collector/unique_fd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/machine_code.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kKernel[] = "_Z6kernelPf";
constexpr char kLater[] = "_Z5laterPf";

std::string CubinOf(const std::string& kernel) {
  CodeWriter code;
  code.Add(kFfma);
  code.AddExit();
  return MakeCubin(kernel, code.Bytes());
}

class CodeSearchTest : public ::testing::Test {
 protected:
  CodeSearchTest() {
    std::string pattern = ::testing::TempDir() + "/code_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    const std::string path = folder_ + "/library.so";
    const std::string library = MakeElf(
        EM_X86_64,
        {{".text", "code"}, {".nv_fatbin", MakeFatbin({{CubinOf(kKernel)}, {CubinOf(kLater)}})}});
    std::ofstream(path) << library;
    const UniqueFd file(open(path.c_str(), O_RDONLY));
    code_ = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
    EXPECT_NE(code_, MAP_FAILED);
    run_.StartRun();
    run_.StartProcess();
    Device device;
    device.set_uuid(RunBuilder::Uuid());
    device.set_compute_capability_major(9);
    device.set_multiprocessors(100);
    run_.Send(1, FRAME_DEVICE, device);
  }
  ~CodeSearchTest() override {
    munmap(code_, 4096);
    std::filesystem::remove_all(folder_);
  }

  void Launch(const std::string& kernel, uint32_t variant) {
    run_.SendKernels({kernel}, 1, 132, 0, variant);
    run_.SendLaunches({RunBuilder::LaunchAt(1000 * (variant + 1), 100, variant)});
  }
  const RunState& state() { return run_.intake().Advance(); }
  void Turn(uint64_t now_ns, bool process_lives = true) {
    search_.Turn(
        now_ns, state(),
        [process_lives] {
          return process_lives ? std::vector<pid_t>{getpid()} : std::vector<pid_t>();
        },
        [this](const KernelCodeRecord& record) { found_.push_back(record.mangled_name()); });
  }
  void Finish() {
    search_.Finish(state(), [this](const KernelCodeRecord& record) {
      found_.push_back(record.mangled_name());
      run_.Send(0, FRAME_KERNEL_CODE, record);
    });
  }

  std::string folder_;
  void* code_ = nullptr;
  RunBuilder run_;
  CodeSearch search_;
  std::vector<std::string> found_;
};

TEST_F(CodeSearchTest, FindsTheCodeOfAKernelInAMappedLibrary) {
  Launch(kKernel, 0);
  Turn(1);
  Turn(1 + CodeSearch::kFirstPauseNs);
  Finish();
  EXPECT_THAT(found_, ElementsAre(kKernel));
  EXPECT_NE(state().kernel_code.Find(kKernel, 90), nullptr) << "and a run takes it";
  EXPECT_GT(search_.cpu_ns(), 0u);
}

// The library was opened while the process lived.
TEST_F(CodeSearchTest, TheLastLookIsForKernelsThatCameLate) {
  Launch(kKernel, 0);
  Turn(1);
  Turn(1 + CodeSearch::kFirstPauseNs);
  Launch(kLater, 1);
  Finish();
  EXPECT_THAT(found_, ElementsAre(kKernel, kLater));
}

TEST_F(CodeSearchTest, OfAProcessThatIsGoneThereIsNone) {
  Launch(kKernel, 0);
  Turn(1);
  Turn(1 + CodeSearch::kFirstPauseNs, /*process_lives=*/false);
  Finish();
  EXPECT_THAT(found_, IsEmpty());
}

TEST_F(CodeSearchTest, ACompilersKernelsAreNotLookedFor) {
  Launch("triton_poi_fused_add_0", 0);
  Turn(1);
  Turn(1 + CodeSearch::kFirstPauseNs);
  Finish();
  EXPECT_EQ(search_.cpu_ns(), 0u);
}

}  // namespace
}  // namespace utlz
