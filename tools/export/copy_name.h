// What traces call a copy.
#ifndef UTLZ_TOOLS_EXPORT_COPY_NAME_H_
#define UTLZ_TOOLS_EXPORT_COPY_NAME_H_

#include <string_view>

#include "proto/profile.pb.h"

namespace utlz {

constexpr std::string_view CopyName(CopyKind kind) {
  switch (kind) {
    case COPY_HOST_TO_DEVICE:
      return "copy host to device";
    case COPY_DEVICE_TO_HOST:
      return "copy device to host";
    case COPY_DEVICE_TO_DEVICE:
      return "copy device to device";
    case COPY_PEER_TO_PEER:
      return "copy peer to peer";
    case COPY_MEMSET:
      return "memset";
    default:
      return "copy";
  }
}

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_COPY_NAME_H_
