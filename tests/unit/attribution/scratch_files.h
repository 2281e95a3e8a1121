// Files of a test, in a folder that no other test process has and that goes with it.
#ifndef UTLZ_TESTS_UNIT_ATTRIBUTION_SCRATCH_FILES_H_
#define UTLZ_TESTS_UNIT_ATTRIBUTION_SCRATCH_FILES_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace utlz {

class ScratchFiles {
 public:
  ScratchFiles() : folder_(testing::TempDir() + "/utlz_attribution_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~ScratchFiles() {
    std::error_code ignored;  // what is left is of no harm
    std::filesystem::remove_all(folder_, ignored);
  }
  ScratchFiles(const ScratchFiles&) = delete;
  ScratchFiles& operator=(const ScratchFiles&) = delete;

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  // Returns the path.
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
    return Path(name);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_ATTRIBUTION_SCRATCH_FILES_H_
