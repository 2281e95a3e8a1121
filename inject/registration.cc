#include "inject/registration.h"

#include <link.h>
#include <sys/mman.h>

#include <cstring>

#include "inject/memory.h"

namespace utlz::inject {
namespace {

struct Search {
  const char* path;
  uintptr_t requested;
  uintptr_t completed;
  const uintptr_t* place;
};

int SearchLibrary(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  if (info->dlpi_name == nullptr || strcmp(info->dlpi_name, search->path) != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    const uintptr_t begin = (info->dlpi_addr + header.p_vaddr + 7) & ~uintptr_t{7};
    const uintptr_t end = info->dlpi_addr + header.p_vaddr + header.p_memsz;
    for (uintptr_t at = begin; at + 16 <= end; at += 8) {
      const auto* words = reinterpret_cast<const uintptr_t*>(at);
      if (words[0] == search->requested && words[1] == search->completed) {
        search->place = words;
        return 1;
      }
    }
  }
  return 1;
}

// What libcupti's data looked like at one moment.
struct DataCopy {
  const char* path;
  uintptr_t begin = 0;
  size_t bytes = 0;
  uint8_t* memory = nullptr;
};

int CopyData(dl_phdr_info* info, size_t, void* data) {
  auto* copy = static_cast<DataCopy*>(data);
  if (info->dlpi_name == nullptr || strcmp(info->dlpi_name, copy->path) != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0 || header.p_memsz <= copy->bytes) {
      continue;
    }
    copy->begin = info->dlpi_addr + header.p_vaddr;  // the largest of them
    copy->bytes = header.p_memsz;
  }
  if (copy->bytes != 0) copy->memory = MapArray<uint8_t>(copy->bytes);
  if (copy->memory != nullptr) {
    memcpy(copy->memory, reinterpret_cast<const void*>(copy->begin), copy->bytes);
  }
  return 1;
}

}  // namespace

cupti::Result Registration::RegisterUnlessHeld(const CuptiApi& api,
                                               cupti::BufferRequested requested,
                                               cupti::BufferCompleted completed) {
  DataCopy before{api.path};
  dl_iterate_phdr(CopyData, &before);
  cupti::Result result = Register(api, requested, completed);
  const uintptr_t offset = reinterpret_cast<uintptr_t>(place_) - before.begin;
  uintptr_t held[2] = {0, 0};
  if (place_ != nullptr && before.memory != nullptr && offset < before.bytes &&
      before.bytes - offset >= sizeof held) {
    memcpy(held, before.memory + offset, sizeof held);
  }
  if (before.memory != nullptr) munmap(before.memory, before.bytes);
  if (result == cupti::kSuccess && held[0] != 0 && held[1] != 0) {
    result = api.activity_register_callbacks(reinterpret_cast<cupti::BufferRequested>(held[0]),
                                             reinterpret_cast<cupti::BufferCompleted>(held[1]));
  }
  return result;
}

cupti::Result Registration::Register(const CuptiApi& api, cupti::BufferRequested requested,
                                     cupti::BufferCompleted completed) {
  requested_ = requested;
  completed_ = completed;
  const cupti::Result result = api.activity_register_callbacks(requested, completed);
  if (result == cupti::kSuccess && place_ == nullptr) {
    Search search{api.path, reinterpret_cast<uintptr_t>(requested),
                  reinterpret_cast<uintptr_t>(completed), nullptr};
    dl_iterate_phdr(SearchLibrary, &search);
    place_ = search.place;
  }
  return result;
}

bool Registration::Ours() const {
  return place_ == nullptr || (Held(0) == reinterpret_cast<uintptr_t>(requested_) &&
                               Held(1) == reinterpret_cast<uintptr_t>(completed_));
}

}  // namespace utlz::inject
