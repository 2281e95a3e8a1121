#include "tools/attach/c_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "tests/unit/attach/fake_memory.h"
#include "tests/unit/attach/tiny_object.h"
#include "tools/attach/unwind/arch.h"

namespace utlz::attach {
namespace {

using testing::HasSubstr;

bool Holds(const std::vector<AddressRange>& ranges, uint64_t address) {
  for (const AddressRange& range : ranges) {
    if (range.Contains(address)) return true;
  }
  return false;
}

// This very process is a good example.
class OwnLibraryTest : public testing::Test {
 protected:
  OwnLibraryTest()
      : map_(MemoryMap::Read(getpid()).value()),
        library_(FindCLibrary(map_, RemoteMemory(getpid()))) {}
  MemoryMap map_;
  absl::StatusOr<CLibrary> library_;
};

void* FromLibc(const char* name) {
  return dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), name);
}

TEST_F(OwnLibraryTest, FindsWhatDlsymFinds) {
  ASSERT_TRUE(library_.ok()) << library_.status();
  EXPECT_EQ(library_->dlopen, reinterpret_cast<uint64_t>(FromLibc("dlopen")));
  EXPECT_EQ(library_->dlerror, reinterpret_cast<uint64_t>(FromLibc("dlerror")));
  EXPECT_EQ(library_->errno_location, reinterpret_cast<uint64_t>(FromLibc("__errno_location")));
  EXPECT_GE(library_->glibc_minor_version, 34);
}

TEST_F(OwnLibraryTest, KnowsTheAllocatorFromTheRest) {
  ASSERT_TRUE(library_.ok());
  for (const char* name : {"malloc", "free", "realloc", "calloc", "posix_memalign"}) {
    EXPECT_TRUE(Holds(library_->allocator_code, reinterpret_cast<uint64_t>(FromLibc(name))))
        << name;
  }
  for (const char* name : {"poll", "read", "printf", "nanosleep", "pthread_create", "qsort"}) {
    EXPECT_FALSE(Holds(library_->allocator_code, reinterpret_cast<uint64_t>(FromLibc(name))))
        << name;
  }
}

TEST_F(OwnLibraryTest, KnowsTheLoader) {
  ASSERT_TRUE(library_.ok());
  const uint64_t base = getauxval(AT_BASE);
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(base);
  EXPECT_TRUE(Holds(library_->loader_code, base + header->e_entry));
}

absl::Status FindIn(const std::string& maps, const FakeMemory& memory = {}) {
  return FindCLibrary(MemoryMap::Parse(maps), memory).status();
}

TEST(CLibraryTest, NamesWhatItRefuses) {
  EXPECT_THAT(std::string(FindIn("1000-2000 r-xp 0 08:01 5 /bin/tool\n").message()),
              HasSubstr("statically linked"));
  EXPECT_THAT(std::string(FindIn("1000-2000 r-xp 0 08:01 5 /bin/tool\n"
                                 "5000-6000 r--p 0 08:01 7 /lib/ld-linux-x86-64.so.2\n")
                              .message()),
              HasSubstr("attach again in a moment"));
  EXPECT_THAT(std::string(FindIn("1000-2000 r-xp 0 08:01 5 /lib/ld-musl-x86_64.so.1\n").message()),
              HasSubstr("uses musl"));
  EXPECT_THAT(std::string(FindIn("1000-2000 r--p 0 08:01 5 /lib/libc.so.6\n"
                                 "3000-4000 r--p 0 08:01 6 /other/libc.so.6\n"
                                 "5000-6000 r--p 0 08:01 7 /lib/ld-linux-x86-64.so.2\n")
                              .message()),
              HasSubstr("two copies of the C library"));
}

constexpr uint64_t kLibraryAddress = 0x7f0000000000;
constexpr char kOldGlibcMaps[] =
    "7f0000000000-7f0000001000 r--p 0 08:01 5 /lib/x86_64-linux-gnu/libc-2.31.so\n"
    "7f0000002000-7f0000003000 r--p 0 08:01 6 /lib/x86_64-linux-gnu/ld-2.31.so\n";

// One function and a version, as libc.so.6 or libdl.so.2 of that version.
TinyObject OldObject(uint64_t address, const char* function, const char* version) {
  TinyObject object = MakeTinyObject(address);
  object.header.e_machine = kElfMachine;
  std::memset(object.strings, 0, sizeof object.strings);
  std::strcpy(object.strings + 1, function);
  std::strcpy(object.strings + 2 + std::strlen(function), version);
  return object;
}

TEST(CLibraryTest, RefusesAGlibcThatTheAgentCannotBeLoadedWith) {
  FakeMemory memory;
  memory.PutValue(kLibraryAddress, OldObject(kLibraryAddress, "dlopen", "GLIBC_2.27"));
  EXPECT_THAT(std::string(FindIn(kOldGlibcMaps, memory).message()),
              HasSubstr("uses glibc 2.27, and the agent needs 2.28 or later; "
                        "start it with `utlz run` instead"));
}

TEST(CLibraryTest, RefusesAnOldGlibcWithoutTheLibraryThatLoads) {
  FakeMemory memory;
  memory.PutValue(kLibraryAddress, OldObject(kLibraryAddress, "__errno_location", "GLIBC_2.31"));
  EXPECT_THAT(std::string(FindIn(kOldGlibcMaps, memory).message()),
              HasSubstr("uses glibc 2.31 without its libdl.so.2, so nothing can be loaded into it; "
                        "start it with `utlz run` instead"));
}

// The two functions that load, in a library with a second symbol.
struct LoadingLibrary {
  TinyObject object;
  Elf64_Sym symbols[3] = {};
  uint32_t hash[5] = {1, 3, 0, 0, 0};
};

LoadingLibrary MakeLoadingLibrary(uint64_t address) {
  LoadingLibrary library{.object = OldObject(address, "dlopen", "dlerror")};
  library.symbols[1] = library.symbols[2] = library.object.symbols[1];
  library.symbols[2].st_name = 8;
  library.symbols[2].st_value = 0x600;
  library.object.dynamic[0].d_un.d_ptr = address + offsetof(LoadingLibrary, symbols);
  library.object.dynamic[3].d_un.d_ptr = address + offsetof(LoadingLibrary, hash);
  return library;
}

TEST(CLibraryTest, FindsTheFunctionsOfAnOldGlibcInItsLibraryThatLoads) {
  constexpr uint64_t kLoadingAddress = kLibraryAddress + 0x10000;
  FakeMemory memory;
  memory.PutValue(kLibraryAddress, OldObject(kLibraryAddress, "__errno_location", "GLIBC_2.31"));
  memory.PutValue(kLoadingAddress, MakeLoadingLibrary(kLoadingAddress));
  const std::string maps =
      std::string(kOldGlibcMaps) +
      "7f0000010000-7f0000011000 r--p 0 08:01 7 /lib/x86_64-linux-gnu/libdl-2.31.so\n"
      "7f0000011000-7f0000012000 r-xp 1000 08:01 7 /lib/x86_64-linux-gnu/libdl-2.31.so\n";
  const absl::StatusOr<CLibrary> library = FindCLibrary(MemoryMap::Parse(maps), memory);
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_EQ(library->dlopen, kLoadingAddress + 0x400);
  EXPECT_EQ(library->dlerror, kLoadingAddress + 0x600);
  EXPECT_EQ(library->errno_location, kLibraryAddress + 0x400);
  EXPECT_EQ(library->glibc_minor_version, 31);
  EXPECT_TRUE(Holds(library->loader_code, kLoadingAddress + 0x1100));
}

TEST(CLibraryTest, RefusesOtherKindsOfProgram) {
  TinyObject object = MakeTinyObject(kLibraryAddress);
  object.header.e_machine = kElfMachine == EM_X86_64 ? EM_AARCH64 : EM_X86_64;
  FakeMemory memory;
  memory.PutValue(kLibraryAddress, object);
  EXPECT_THAT(std::string(FindIn(kOldGlibcMaps, memory).message()),
              HasSubstr("another architecture"));
  object.header.e_ident[EI_CLASS] = ELFCLASS32;
  memory.PutValue(kLibraryAddress, object);
  EXPECT_THAT(std::string(FindIn(kOldGlibcMaps, memory).message()), HasSubstr("32-bit"));
}

// That it is static as well would be no help.
TEST(CLibraryTest, RefusesStaticProgramsOfOtherKindsForTheirKind) {
  TinyObject object = MakeTinyObject(0x8048000);
  object.header.e_ident[EI_CLASS] = ELFCLASS32;
  FakeMemory memory;
  memory.PutValue(0x8048000, object);
  EXPECT_THAT(std::string(FindIn("08048000-08049000 r-xp 0 08:01 5 /bin/tool\n", memory).message()),
              HasSubstr("32-bit"));
}

}  // namespace
}  // namespace utlz::attach
