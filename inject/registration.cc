#include "inject/registration.h"

#include <link.h>

#include <cstring>

namespace utlz::inject {
namespace {

struct Search {
  const char* path;
  uintptr_t requested;
  uintptr_t completed;
  const volatile uintptr_t* place;
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
      const auto* words = reinterpret_cast<const volatile uintptr_t*>(at);
      if (words[0] == search->requested && words[1] == search->completed) {
        search->place = words;
        return 1;
      }
    }
  }
  return 1;
}

}  // namespace

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
  return place_ == nullptr || (place_[0] == reinterpret_cast<uintptr_t>(requested_) &&
                               place_[1] == reinterpret_cast<uintptr_t>(completed_));
}

}  // namespace utlz::inject
