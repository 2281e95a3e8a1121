#include "inject/record/compiled_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "inject/base/memory.h"
#include "proto/profile_fields.h"

namespace utlz::agent {
namespace {

constexpr uint32_t kColumnBytes = (CompiledFiles::kMostLaunches + 1) * 10;

// The length of what was read; 0 where the file is not one that is read.
uint32_t ReadRegularFile(const char* path, char* text, uint32_t capacity) {
  if (path[0] != '/') return 0;  // the end of a path that was too long, or of another folder
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  if (file < 0) return 0;
  struct stat status;
  uint32_t used = 0;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= capacity) {
    for (ssize_t bytes = 1; bytes > 0 && used < capacity;) {
      bytes = read(file, text + used, capacity - used);
      if (bytes > 0) used += static_cast<uint32_t>(bytes);
    }
  }
  close(file);
  return used;
}

}  // namespace

bool CompiledFiles::Create() {
  text_ = MapArray<char>(kMostFileBytes);
  launches_ = MapArray<CompiledLaunch>(kMostLaunches);
  names_ = MapArray<uint32_t>(kMostLaunches);
  column_ = MapArray<uint8_t>(kColumnBytes);
  return text_ != nullptr && launches_ != nullptr && names_ != nullptr && column_ != nullptr;
}

void CompiledFiles::Add(uint32_t file) {
  const bool is_known = std::find(files_, files_ + count_, file) != files_ + count_;
  if (file != 0 && !is_known && count_ < kMostFiles) files_[count_++] = file;
}

bool CompiledFiles::Read(const char* path) {
  launch_count_ = 0;
  CompiledCodeReader reader(std::string_view(text_, ReadRegularFile(path, text_, kMostFileBytes)));
  while (launch_count_ < kMostLaunches && reader.Next(&launches_[launch_count_])) ++launch_count_;
  return launch_count_ != 0;
}

void CompiledFiles::Name(StringTable* strings) {
  char text[CompiledCodeReader::kMostOperationsBytes + 1];
  for (uint32_t i = 0; i < launch_count_; ++i) {
    const std::string_view operations = launches_[i].operations;
    std::memcpy(text, operations.data(), operations.size());
    text[operations.size()] = 0;
    names_[i] = strings->Intern(text);
  }
}

void CompiledFiles::Write(uint32_t file, ByteBuffer* message) const {
  namespace field = wire::CompiledCode;
  PbWriter out(message);
  out.Uint(field::kFile, file);
  ByteBuffer column(column_, kColumnBytes);
  const auto put = [&](uint32_t number, auto value_of) {
    column.Clear();
    for (uint32_t i = 0; i < launch_count_; ++i) column.Varint(value_of(i));
    out.Buffer(number, column);
  };
  put(field::kLine, [this](uint32_t i) { return launches_[i].line; });
  put(field::kLines, [this](uint32_t i) { return launches_[i].lines; });
  put(field::kOperations, [this](uint32_t i) { return names_[i]; });
}

void CompiledFiles::Release() {
  launch_count_ = 0;
  ClearArray(text_, kMostFileBytes);
  ClearArray(launches_, kMostLaunches);
  ClearArray(names_, kMostLaunches);
  ClearArray(column_, kColumnBytes);
}

}  // namespace utlz::agent
