// A folder that is gone with its owner, for files that a test makes up.
#ifndef UTLZ_TESTS_UNIT_SAMPLING_TEMPORARY_FOLDER_H_
#define UTLZ_TESTS_UNIT_SAMPLING_TEMPORARY_FOLDER_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace utlz {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    char pattern[] = "/tmp/utlz-sampling-XXXXXX";
    path_ = mkdtemp(pattern);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }

  // Writes a file, `name` beginning with '/', and the folders above it. Returns its path.
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = path_ + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }

 private:
  std::string path_;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_SAMPLING_TEMPORARY_FOLDER_H_
