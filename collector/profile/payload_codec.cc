#include "collector/profile/payload_codec.h"

#include <zstd.h>

#include "proto/frame.h"

namespace utlz {
namespace {

constexpr size_t kMinCompressedBytes = 4096;
constexpr int kCompressionLevel = 1;

}  // namespace

struct PayloadCompressor::Context {
  Context() : zstd(ZSTD_createCCtx()) {}
  ~Context() { ZSTD_freeCCtx(zstd); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ZSTD_CCtx* zstd;
};

PayloadCompressor::PayloadCompressor() : context_(std::make_unique<Context>()) {}
PayloadCompressor::~PayloadCompressor() = default;

bool PayloadCompressor::Compress(std::string_view payload, std::string* out) {
  if (payload.size() <= kMinCompressedBytes || context_->zstd == nullptr) return false;
  // A destination of nine tenths makes zstd give up by itself where too little is saved.
  out->resize(payload.size() - payload.size() / 10);
  const size_t size = ZSTD_compressCCtx(context_->zstd, out->data(), out->size(), payload.data(),
                                        payload.size(), kCompressionLevel);
  if (ZSTD_isError(size)) return false;
  out->resize(size);
  return true;
}

bool DecompressPayload(std::string_view payload, std::string* out) {
  const unsigned long long size = ZSTD_getFrameContentSize(payload.data(), payload.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) return false;
  if (size > kMaxFramePayloadBytes) return false;
  out->resize(static_cast<size_t>(size));
  return ZSTD_decompress(out->data(), out->size(), payload.data(), payload.size()) == size;
}

}  // namespace utlz
