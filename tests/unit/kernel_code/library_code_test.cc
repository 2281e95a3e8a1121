#include "collector/kernel_code/library_code.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <map>

#include "collector/unique_fd.h"
#include "tests/support/machine_code.h"

namespace utlz {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::UnorderedElementsAre;

std::string Code(uint32_t opcode) {
  CodeWriter code;
  code.Add(opcode);
  code.AddExit();
  return code.Bytes();
}

FatbinEntry Compressed(const std::string& cubin) {
  std::string bytes(ZSTD_compressBound(cubin.size()), '\0');
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), cubin.data(), cubin.size(), 1));
  return {.bytes = bytes, .flags = 0x8000, .cubin_bytes = cubin.size()};
}

UniqueFd File(const std::string& bytes) {
  UniqueFd fd(memfd_create("library", MFD_CLOEXEC));
  EXPECT_EQ(write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return fd;
}

std::map<std::string, KernelCode> FindAmong(LibraryKernels* library, const KernelNames& names,
                                            absl::Status* status = nullptr) {
  std::map<std::string, KernelCode> found;
  const absl::Status done = library->Find(names, [&](const std::string& name, KernelCode code) {
    EXPECT_TRUE(found.emplace(name, std::move(code)).second);
  });
  if (status != nullptr) *status = done;
  return found;
}

std::map<std::string, KernelCode> Find(const std::string& library, const KernelNames& names,
                                       absl::Status* status = nullptr) {
  const UniqueFd fd = File(library);
  LibraryKernels kernels(fd.get(), 90);
  return FindAmong(&kernels, names, status);
}

std::string Library(const std::string& fatbins) {
  return MakeElf(EM_X86_64, {{".text", "code"}, {".nv_fatbin", fatbins}});
}

TEST(LibraryCodeTest, KernelsAreFoundCompressedAndNot) {
  const std::string library = Library(
      MakeFatbin({{MakeCubin("one", Code(kFfma))}, Compressed(MakeCubin("two", Code(kFadd)))}) +
      MakeFatbin({Compressed(MakeCubin("three", Code(kImad)))}));
  absl::Status status;
  const auto found = Find(library, {"one", "two", "three", "four"}, &status);
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_THAT(found, UnorderedElementsAre(Key("one"), Key("two"), Key("three")));
  EXPECT_EQ(found.at("one").blocks[0].always.fp32_flops, 2u);
  EXPECT_EQ(found.at("two").blocks[0].always.fp32_flops, 1u);
  EXPECT_EQ(found.at("three").blocks[0].always.fp32_flops, 0u);
}

TEST(LibraryCodeTest, OnlyWantedKernelsOfThisChipAreFound) {
  FatbinEntry other{MakeCubin("one", Code(kFfma))};
  other.compute_capability = 80;
  FatbinEntry ptx{MakeCubin("one", Code(kFfma))};
  ptx.kind = 1;
  const std::string library = Library(MakeFatbin({other, ptx, {MakeCubin("two", Code(kFadd))}}));
  EXPECT_THAT(Find(library, {"one"}), IsEmpty());
  EXPECT_THAT(Find(library, {"two"}), ElementsAre(Key("two")));
}

TEST(LibraryCodeTest, AKernelOfTwoCubinsIsFoundOnce) {
  const std::string library = Library(MakeFatbin({{MakeCubin("one", Code(kFfma))},
                                                  {MakeCubin("one", Code(kFadd))},
                                                  {MakeCubin("two", Code(kFadd))}}));
  const auto found = Find(library, {"one", "two"});
  ASSERT_THAT(found, UnorderedElementsAre(Key("one"), Key("two")));
  EXPECT_EQ(found.at("one").blocks[0].always.fp32_flops, 2u);
}

TEST(LibraryCodeTest, RelocatedBranchesAreNotFollowed) {
  CodeWriter code;
  const uint32_t branch = code.AddBranch(0);
  code.SetTarget(branch, 0);
  code.AddExit();
  Elf64_Rela rela = {};
  rela.r_offset = branch;
  const std::string entries(reinterpret_cast<const char*>(&rela), sizeof(rela));
  const auto cubin = [&](uint32_t section) {
    return MakeElf(kCubinMachine,
                   {{".text.one", code.Bytes()}, {".rela.text.one", entries, SHT_RELA, section}});
  };
  EXPECT_THAT(Find(Library(MakeFatbin({{cubin(2)}})), {"one"}), ElementsAre(Key("one")));
  EXPECT_THAT(Find(Library(MakeFatbin({{cubin(1)}})), {"one"}), IsEmpty());
}

TEST(LibraryCodeTest, BytesMayBeACubinAFatbinOrALibrary) {
  const std::string cubin = MakeCubin("one", Code(kFfma));
  for (const std::string& bytes : {cubin, MakeFatbin({{cubin}}), Library(MakeFatbin({{cubin}}))}) {
    int found = 0;
    EXPECT_TRUE(FindKernelCodeInBytes(bytes, 90, {"one"}, [&](const std::string&, KernelCode) {
                  ++found;
                }).ok());
    EXPECT_EQ(found, 1);
  }
}

TEST(LibraryCodeTest, OtherFilesAreAnError) {
  absl::Status status;
  EXPECT_THAT(Find("no library", {"one"}, &status), IsEmpty());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Find("", {"one"}, &status), IsEmpty());
  EXPECT_FALSE(status.ok());
  int pipes[2];
  ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  const UniqueFd reads(pipes[0]);
  const UniqueFd writes(pipes[1]);
  LibraryKernels pipe(reads.get(), 90);
  FindAmong(&pipe, {"one"}, &status);
  EXPECT_FALSE(status.ok());
}

TEST(LibraryKernelsTest, LaterLooksFindWhatTheFirstOneWasNotFor) {
  const UniqueFd file = File(Library(
      MakeFatbin({{MakeCubin("one", Code(kFfma))}, Compressed(MakeCubin("two", Code(kFadd)))}) +
      MakeFatbin({{MakeCubin("one", Code(kFadd))}, Compressed(MakeCubin("three", Code(kImad)))})));
  LibraryKernels library(file.get(), 90);
  EXPECT_THAT(FindAmong(&library, {"two"}), ElementsAre(Key("two")));
  const auto found = FindAmong(&library, {"one", "two", "three", "four"});
  ASSERT_THAT(found, UnorderedElementsAre(Key("one"), Key("two"), Key("three")));
  EXPECT_EQ(found.at("one").blocks[0].always.fp32_flops, 2u) << "the first of two";
  EXPECT_THAT(FindAmong(&library, {"four"}), IsEmpty());
  EXPECT_THAT(FindAmong(&library, {}), IsEmpty());
}

TEST(LibraryKernelsTest, LaterLooksReadNoMoreThanTheyNeed) {
  const UniqueFd file =
      File(Library(MakeFatbin({{MakeCubin("one", Code(kFfma))}, {MakeCubin("two", Code(kFfma))}})));
  LibraryKernels library(file.get(), 90);
  EXPECT_THAT(FindAmong(&library, {}), IsEmpty());
  // Whoever may write the file changes it: what is elsewhere now is not found, and nothing breaks.
  const std::string changed =
      Library(MakeFatbin({{MakeCubin("ones", Code(kFfma))}, {MakeCubin("two", Code(kFfma))}}));
  ASSERT_EQ(pwrite(file.get(), changed.data(), changed.size(), 0),
            static_cast<ssize_t>(changed.size()));
  EXPECT_THAT(FindAmong(&library, {"ones"}), IsEmpty());
  FatbinEntry of_another_chip{MakeCubin("one", Code(kFfma))};
  of_another_chip.compute_capability = 80;
  const std::string other = Library(MakeFatbin({of_another_chip, {MakeCubin("two", Code(kFfma))}}));
  ASSERT_EQ(pwrite(file.get(), other.data(), other.size(), 0), static_cast<ssize_t>(other.size()));
  EXPECT_THAT(FindAmong(&library, {"one", "two"}), ElementsAre(Key("two")));
  ASSERT_EQ(ftruncate(file.get(), 100), 0);
  EXPECT_THAT(FindAmong(&library, {"one", "two"}), IsEmpty());
}

TEST(LibraryKernelsTest, OtherFilesAreAnErrorOnce) {
  const UniqueFd file = File("no library");
  LibraryKernels library(file.get(), 90);
  absl::Status status;
  EXPECT_THAT(FindAmong(&library, {"one"}, &status), IsEmpty());
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(FindAmong(&library, {"one"}, &status), IsEmpty());
}

TEST(LibraryCodeTest, LibrariesWithDeviceCodeAreTold) {
  EXPECT_TRUE(HoldsKernelCode(File(Library(MakeFatbin({}))).get()));
  EXPECT_FALSE(HoldsKernelCode(File(MakeElf(EM_X86_64, {{".text", "code"}})).get()));
  EXPECT_FALSE(HoldsKernelCode(File("no library").get()));
  EXPECT_FALSE(HoldsKernelCode(-1));
}

TEST(LibraryCodeTest, ALibraryThatIsCutOffGivesWhatIsWhole) {
  const std::string fatbin = MakeFatbin({{MakeCubin("one", Code(kFfma))}});
  const std::string damaged = fatbin + fatbin.substr(0, fatbin.size() / 2);
  EXPECT_THAT(Find(Library(damaged), {"one", "two"}), ElementsAre(Key("one")));
  const std::string library = Library(fatbin);
  for (size_t size = 0; size < library.size(); ++size) {
    Find(library.substr(0, size), {"one"});
  }
}

TEST(LibraryCodeTest, SizesThatLieAreRefused) {
  FatbinEntry huge = Compressed(MakeCubin("one", Code(kFfma)));
  huge.cubin_bytes = ~uint64_t{0};
  EXPECT_THAT(Find(Library(MakeFatbin({huge})), {"one"}), IsEmpty());
  FatbinEntry wrong = Compressed(MakeCubin("one", Code(kFfma)));
  ++wrong.cubin_bytes;
  EXPECT_THAT(Find(Library(MakeFatbin({wrong})), {"one"}), IsEmpty());
  FatbinEntry other_way = Compressed(MakeCubin("one", Code(kFfma)));
  other_way.flags = 0x2000;
  EXPECT_THAT(Find(Library(MakeFatbin({other_way})), {"one"}), IsEmpty());
  std::string container = MakeFatbin({{MakeCubin("one", Code(kFfma))}});
  const uint64_t beyond = ~uint64_t{0} - 8;
  std::memcpy(container.data() + 8, &beyond, sizeof(beyond));
  EXPECT_THAT(Find(Library(container), {"one"}), IsEmpty());
}

TEST(LibraryCodeTest, MoreEntriesThanAnyLibraryHasAreAnError) {
  const std::vector<FatbinEntry> entries(200'001, {.bytes = "", .kind = 1});
  absl::Status status;
  Find(Library(MakeFatbin(entries)), {"one"}, &status);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace utlz
