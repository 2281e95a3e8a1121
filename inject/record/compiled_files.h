// Files that Inductor generated and that frames of stacks are in: each is read once, in the target
// and with its rights, for what it says of its launches (compiled_code.h). Only a regular file is
// read, of at most kMostFileBytes, by an absolute path whose last part is no link.
//
// Read and Release: the agent's thread or the one that ends the process, without the recorder's
// lock. All others: under it.
#ifndef UTLZ_INJECT_RECORD_COMPILED_FILES_H_
#define UTLZ_INJECT_RECORD_COMPILED_FILES_H_

#include <cstdint>

#include "inject/base/pb_writer.h"
#include "inject/python/compiled_code.h"
#include "inject/record/string_table.h"

namespace utlz::agent {

class CompiledFiles {
 public:
  static constexpr uint32_t kMostFiles = 256;
  static constexpr uint32_t kMostFileBytes = 4 << 20;
  static constexpr uint32_t kMostLaunches = 1 << 14;  // of one file

  // Once, before all others. False where there is no memory.
  bool Create();
  // `file`: the identifier of its path. Known ones are passed over, as are those beyond kMostFiles.
  void Add(uint32_t file);
  // The oldest file that has not been read; 0: none is left.
  uint32_t Next() { return read_ < count_ ? files_[read_++] : 0; }
  // For another reader, who knows no identifiers.
  void Clear() { count_ = read_ = 0; }

  // Reads what a file says. False where it says nothing, or is none that is read.
  bool Read(const char* path);
  // Of the file that was read last: puts the operations among `strings`, then writes a message that
  // names them by their numbers there.
  void Name(StringTable* strings);
  void Write(uint32_t file, ByteBuffer* message) const;
  // Forgets it, and gives its memory back.
  void Release();

 private:
  uint32_t files_[kMostFiles] = {};
  uint32_t count_ = 0, read_ = 0;
  char* text_ = nullptr;
  CompiledLaunch* launches_ = nullptr;
  uint32_t launch_count_ = 0;
  uint32_t* names_ = nullptr;  // of the launches' operations
  uint8_t* column_ = nullptr;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_COMPILED_FILES_H_
