// Whether a decoder that has decoded nothing takes a batch.
#ifndef UTLZ_TESTS_UNIT_DECODE_ACCEPTS_BATCH_H_
#define UTLZ_TESTS_UNIT_DECODE_ACCEPTS_BATCH_H_

#include "collector/decode/launch_decoder.h"

namespace utlz {

inline bool Accepts(const LaunchBatch& batch) {
  LaunchDecoder decoder;
  return decoder.Decode(batch.SerializeAsString()) != nullptr;
}

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_DECODE_ACCEPTS_BATCH_H_
