#include "inject/tracing/registration.h"

#include <link.h>
#include <sys/mman.h>

#include <cstring>

#include "inject/base/memory.h"

namespace utlz::agent {
namespace {

// A segment is read whole, gaps between its variables included, while others may write to it.
#define UTLZ_READS_SEGMENTS __attribute__((no_sanitize("address", "thread")))

constexpr uintptr_t WholeWordsFrom(uintptr_t address) { return (address + 7) & ~uintptr_t{7}; }

UTLZ_READS_SEGMENTS uintptr_t WordAt(const uintptr_t* word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

struct Search {
  const char* path;
  uintptr_t requested;
  uintptr_t completed;
  const uintptr_t* place;
};

UTLZ_READS_SEGMENTS int SearchLibrary(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  if (info->dlpi_name == nullptr || strcmp(info->dlpi_name, search->path) != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    const uintptr_t begin = WholeWordsFrom(info->dlpi_addr + header.p_vaddr);
    const uintptr_t end = info->dlpi_addr + header.p_vaddr + header.p_memsz;
    for (uintptr_t at = begin; at + 16 <= end; at += 8) {
      const auto* words = reinterpret_cast<const uintptr_t*>(at);
      if (WordAt(words) == search->requested && WordAt(words + 1) == search->completed) {
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
  size_t words = 0;
  uintptr_t* memory = nullptr;
};

UTLZ_READS_SEGMENTS int CopyData(dl_phdr_info* info, size_t, void* data) {
  auto* copy = static_cast<DataCopy*>(data);
  if (info->dlpi_name == nullptr || strcmp(info->dlpi_name, copy->path) != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const uintptr_t begin = WholeWordsFrom(info->dlpi_addr + header.p_vaddr);
    const uintptr_t end = info->dlpi_addr + header.p_vaddr + header.p_memsz;
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0 ||
        end < begin + 8 * (copy->words + 1)) {
      continue;
    }
    copy->begin = begin;  // the largest of them
    copy->words = (end - begin) / 8;
  }
  if (copy->words != 0) copy->memory = MapArray<uintptr_t>(copy->words);
  for (size_t i = 0; copy->memory != nullptr && i < copy->words; ++i) {
    copy->memory[i] = WordAt(reinterpret_cast<const uintptr_t*>(copy->begin) + i);
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
  const size_t word = (reinterpret_cast<uintptr_t>(place_) - before.begin) / 8;
  uintptr_t held[2] = {0, 0};
  if (place_ != nullptr && before.memory != nullptr && word + 1 < before.words) {
    held[0] = before.memory[word];
    held[1] = before.memory[word + 1];
  }
  if (before.memory != nullptr) munmap(before.memory, 8 * before.words);
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

}  // namespace utlz::agent
