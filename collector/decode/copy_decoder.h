// Turns a CopyBatch (profile.proto) into copies and memory sets. Hostile input is refused whole.
#ifndef UTLZ_COLLECTOR_DECODE_COPY_DECODER_H_
#define UTLZ_COLLECTOR_DECODE_COPY_DECODER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

struct Copy {
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t bytes;
  CopyKind kind;
  uint32_t context;
  uint32_t stream;
  bool pageable;
  bool of_graph;
};

struct DecodedCopies {
  std::vector<Copy> copies;
  uint32_t untimed = 0;
};

// False if the batch is refused. `copies` is overwritten.
bool DecodeCopies(std::string_view payload, DecodedCopies* decoded);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DECODE_COPY_DECODER_H_
