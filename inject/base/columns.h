// Memory for the columns of a batch, of one size each.
#ifndef UTLZ_INJECT_BASE_COLUMNS_H_
#define UTLZ_INJECT_BASE_COLUMNS_H_

#include <cstdint>
#include <initializer_list>

#include "inject/base/memory.h"
#include "inject/base/pb_writer.h"

namespace utlz::agent {

// Room for `values` varints in each of the columns. False where there is no memory.
inline bool MapColumns(std::initializer_list<ByteBuffer*> columns, uint32_t values) {
  const uint32_t column_bytes = values * kMostVarintBytes;
  auto* memory = MapArray<uint8_t>(columns.size() * uint64_t{column_bytes});
  if (memory == nullptr) return false;
  for (ByteBuffer* column : columns) {
    *column = ByteBuffer(memory, column_bytes);
    memory += column_bytes;
  }
  return true;
}

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_COLUMNS_H_
