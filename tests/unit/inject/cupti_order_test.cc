// Which libcupti the agent takes, where there are several. The stand-in is copied to several
// places; each case is a process of its own, since what was loaded once stays.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "inject/driver/cupti_api.h"
#include "tests/support/temporary_folder.h"

namespace utlz::agent {
namespace {

class CuptiOrderTest : public testing::Test {
 protected:
  CuptiOrderTest() {
    unsetenv(kCuptiVariable);
    unsetenv(kNamedCuptiVariable);
    unsetenv("CUDA_PATH");
    unsetenv("CUDA_HOME");
    setenv("UTLZ_FAKE", "cupti_version@old=22", 1);
  }

  // A copy of the stand-in in a folder of its own.
  std::string Copy(const std::string& name) {
    const std::string path = folder_.Write(name + "/libcupti.so.13", "");
    std::filesystem::copy_file(UTLZ_FAKE_CUPTI, path,
                               std::filesystem::copy_options::overwrite_existing);
    return path;
  }

  std::string BrokenFile() { return folder_.Write("text.so", std::string(5000, 'x')); }

  // What `program` says in a child.
  std::string InChild(const std::function<std::string()>& program) {
    const std::string said = folder_.Write("said", "nothing");
    const pid_t child = fork();
    if (child == 0) {
      WriteWholeFile(said, program());
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return ReadWholeFile(said);
  }

  static void Load(const std::string& path) {
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) std::abort();
  }

  // The path of the copy that is taken, and that of another beside it.
  static std::string Taken(const BroughtCupti& brought = {}) {
    CuptiApi api{};
    const CuptiLoad load = LoadCupti(&api, brought);
    if (load != CuptiLoad::kLoaded) return "load " + std::to_string(static_cast<int>(load));
    return std::string(api.path) + (HasOtherCupti(api) ? " beside " : "") + api.other_path;
  }

  static std::string Fate(const CuptiApi& api) {
    return std::to_string(static_cast<int>(api.named.fate)) + " " + api.named.path + " " +
           api.named.error;
  }

  static int Open(const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }

  TemporaryFolder folder_;
};

TEST_F(CuptiOrderTest, OneThatWasFoundComesLast) {
  const std::string own = Copy("own"), found = Copy("found");
  EXPECT_EQ(InChild([&] {
              Load(own);
              setenv(kCuptiVariable, found.c_str(), 1);
              return Taken({.last_resort = Open(found)});
            }),
            own);
  const std::string toolkit = Copy("toolkit/lib64");
  EXPECT_EQ(InChild([&] {
              setenv("CUDA_HOME", folder_.File("toolkit").c_str(), 1);
              setenv(kCuptiVariable, found.c_str(), 1);
              return Taken({.last_resort = Open(found)});
            }),
            toolkit);
  if (InChild([] { return Taken(); }) != "load 1") GTEST_SKIP() << "this machine has a CUPTI";
  EXPECT_EQ(InChild([&] { return Taken({.last_resort = Open(found)}); }), found);
  setenv(kCuptiVariable, found.c_str(), 1);
  EXPECT_EQ(InChild([&] { return Taken({.last_resort = Open(own)}); }), found);
}

TEST_F(CuptiOrderTest, OneThatWasNamedComesBeforeTheProgramsOwn) {
  const std::string own = Copy("own"), named = Copy("named"), found = Copy("found");
  setenv(kCuptiVariable, found.c_str(), 1);
  EXPECT_EQ(InChild([&] {
              Load(own);
              return Taken({.named = Open(named)});
            }),
            named + " beside " + own);
  setenv(kNamedCuptiVariable, named.c_str(), 1);
  EXPECT_EQ(InChild([&] {
              Load(own);
              return Taken();
            }),
            named + " beside " + own);
  EXPECT_EQ(InChild([&] { return Taken(); }), named) << "alone";
  const std::string attachments = Copy("attachments");
  EXPECT_EQ(InChild([&] { return Taken({.named = Open(attachments)}); }), attachments)
      << "an attachment's comes before the environment's";
}

TEST_F(CuptiOrderTest, TheProgramsOwnByAnotherNameIsNoSecondCopy) {
  const std::string own = Copy("own");
  const std::string link = folder_.File("link.so");
  std::filesystem::create_symlink(own, link);
  setenv(kNamedCuptiVariable, link.c_str(), 1);
  EXPECT_EQ(InChild([&] {
              Load(own);
              return Taken();
            }),
            own);
}

TEST_F(CuptiOrderTest, OneThatComesLaterIsSeen) {
  const std::string own = Copy("own"), named = Copy("named");
  setenv(kNamedCuptiVariable, named.c_str(), 1);
  EXPECT_EQ(InChild([&] {
              CuptiApi api{};
              LoadCupti(&api);
              std::string said = LookForOtherCupti(&api) ? "at once, " : "";
              Load(own);
              said += LookForOtherCupti(&api) ? "then, " : "";
              said += LookForOtherCupti(&api) ? "again, " : "";
              return said + api.other_path;
            }),
            "then, " + own);
}

TEST_F(CuptiOrderTest, ABrokenOneIsToldAndTheOthersKeepTheirOrder) {
  const std::string own = Copy("own"), named = Copy("named"), old = Copy("old");
  const std::string text = BrokenFile();
  const auto fall_back = [&](const std::string& path) {
    return InChild([&] {
      Load(own);
      CuptiApi api{};
      setenv(kNamedCuptiVariable, path.c_str(), 1);
      LoadCupti(&api);
      // What was loaded is never unloaded.
      void* const left = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
      return api.path + std::string(api.by_name ? " by name" : "") +
             (left == nullptr ? "" : " left") + " " + Fate(api);
    });
  };
  EXPECT_EQ(fall_back(text), own + " 2 " + text + " invalid ELF header");
  EXPECT_EQ(fall_back(UTLZ_LARGE_CONSTANTS_LIBRARY),
            own + " 3 " + UTLZ_LARGE_CONSTANTS_LIBRARY + " ");
  EXPECT_EQ(fall_back(UTLZ_OLDER_CUPTI), own + " 4 " + UTLZ_OLDER_CUPTI + " ");
  EXPECT_EQ(fall_back(old), own + " left 4 " + old + " ") << "its file shows nothing of it";
  EXPECT_EQ(fall_back(named), named + " by name left 1 " + named + " ");
}

TEST_F(CuptiOrderTest, ABrokenOneOfAnAttachmentIsToldThoughTheEnvironmentsIsUsed) {
  const std::string named = Copy("named");
  const std::string text = BrokenFile();
  setenv(kNamedCuptiVariable, named.c_str(), 1);
  EXPECT_EQ(InChild([&] {
              CuptiApi api{};
              LoadCupti(&api, {.named = Open(text)});
              return api.path + std::string(" ") + Fate(api);
            }),
            named + " 2 " + text + " invalid ELF header");
}

TEST_F(CuptiOrderTest, AFileThatIsElsewhereByNowIsLoadedThroughItsDescriptor) {
  const std::string named = Copy("named");
  EXPECT_EQ(InChild([&] {
              const int file = Open(named);
              std::filesystem::remove(named);
              return Taken({.named = file}).substr(0, sizeof "/proc/self/fd" - 1);
            }),
            "/proc/self/fd");
}

TEST_F(CuptiOrderTest, AnAgentKeepsWhatItHasLoaded) {
  const std::string first = Copy("first"), second = Copy("second");
  EXPECT_EQ(
      InChild([&] {
        CuptiApi api{};
        LoadCupti(&api, {.named = Open(first)});
        std::string said;
        for (const BroughtCupti& brought : {BroughtCupti{.named = Open(second)},
                                            BroughtCupti{.named = Open(first)}, BroughtCupti{}}) {
          KeepCupti(&api, brought);
          said += std::string(api.path) + " " + Fate(api) + "\n";
        }
        return said;
      }),
      first + " 5 " + second + " \n" + first + " 1 " + first + " \n" + first + " 0  \n");
}

}  // namespace
}  // namespace utlz::agent
