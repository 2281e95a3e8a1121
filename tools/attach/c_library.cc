#include "tools/attach/c_library.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/attach/unwind/arch.h"

namespace utlz::attach {
namespace {

constexpr char kRemedy[] = "; start it with `utlz run` instead";
// What the agent is linked for (cmake/UtlzOlderGlibc.cmake).
constexpr int kOldestGlibc = 28;

constexpr std::array<std::string_view, 26> kAllocatorFunctions = {"__default_morecore",
                                                                  "__libc_calloc",
                                                                  "__libc_free",
                                                                  "__libc_mallinfo",
                                                                  "__libc_malloc",
                                                                  "__libc_mallopt",
                                                                  "__libc_memalign",
                                                                  "__libc_pvalloc",
                                                                  "__libc_realloc",
                                                                  "__libc_valloc",
                                                                  "aligned_alloc",
                                                                  "calloc",
                                                                  "cfree",
                                                                  "free",
                                                                  "mallinfo",
                                                                  "mallinfo2",
                                                                  "malloc",
                                                                  "malloc_info",
                                                                  "malloc_stats",
                                                                  "malloc_trim",
                                                                  "malloc_usable_size",
                                                                  "mallopt",
                                                                  "memalign",
                                                                  "posix_memalign",
                                                                  "pvalloc",
                                                                  "realloc"};

// Allocators that programs put in the place of the C library's. All of their code counts.
constexpr std::array<const char*, 6> kOtherAllocators = {
    "libjemalloc", "libmimalloc", "libtcmalloc", "libtbbmalloc", "libhoard", "libsnmalloc"};

bool IsAllocatorFunction(const std::string& name) {
  return name == "valloc" || std::find(kAllocatorFunctions.begin(), kAllocatorFunctions.end(),
                                       name) != kAllocatorFunctions.end();
}

bool IsDynamicLoader(const std::string& base_name) {
  return absl::StartsWith(base_name, "ld-linux") || absl::StartsWith(base_name, "ld-2.") ||
         absl::StartsWith(base_name, "ld64.so") || base_name == "ld.so.1";
}

bool IsGlibc(const std::string& base_name) {
  return base_name == "libc.so.6" ||
         (absl::StartsWith(base_name, "libc-2.") && absl::EndsWith(base_name, ".so"));
}

// Before 2.34, dlopen is in a library of its own.
bool IsLoadingLibrary(const std::string& base_name) {
  return base_name == "libdl.so.2" ||
         (absl::StartsWith(base_name, "libdl-2.") && absl::EndsWith(base_name, ".so"));
}

bool IsMusl(const std::string& base_name) {
  return absl::StartsWith(base_name, "ld-musl-") || absl::StartsWith(base_name, "libc.musl-");
}

struct Objects {
  const Mapping* program = nullptr;    // the first page of a file, which is the program's
  const Mapping* c_library = nullptr;  // its first page
  const Mapping* loading_library = nullptr;
  const Mapping* loader = nullptr;
  bool has_musl = false;
  bool has_two_c_libraries = false;
  std::vector<AddressRange> other_allocator_code;
};

Objects FindObjects(const MemoryMap& map) {
  Objects objects;
  for (const Mapping& mapping : map.mappings()) {
    if (mapping.inode == 0) continue;
    const std::string name = mapping.BaseName();
    objects.has_musl |= IsMusl(name);
    for (const char* allocator : kOtherAllocators) {
      if (mapping.executable && absl::StartsWith(name, allocator)) {
        objects.other_allocator_code.push_back(mapping.range);
      }
    }
    if (mapping.file_offset_bytes != 0) continue;
    if (objects.program == nullptr) objects.program = &mapping;
    if (IsDynamicLoader(name) && objects.loader == nullptr) objects.loader = &mapping;
    if (IsLoadingLibrary(name)) objects.loading_library = &mapping;
    if (!IsGlibc(name)) continue;
    objects.has_two_c_libraries |= objects.c_library != nullptr;
    objects.c_library = &mapping;
  }
  return objects;
}

absl::Status Refusal(const std::string& reason) {
  return absl::FailedPreconditionError(absl::StrCat(reason, kRemedy));
}

absl::Status CheckIdentity(const ElfIdentity& identity) {
  if (!identity.is_64_bit) {
    return absl::FailedPreconditionError(
        "the program is a 32-bit one; only 64-bit programs can be profiled");
  }
  if (identity.machine != kElfMachine) {
    return absl::FailedPreconditionError(
        "the program was built for another architecture than this tool; use the utlz of that "
        "architecture");
  }
  return absl::OkStatus();
}

absl::Status CheckObjects(const Objects& objects, const MemoryReader& memory) {
  if (objects.program != nullptr) {
    const auto identity = ReadElfIdentity(memory, objects.program->range.start);
    const absl::Status status = identity ? CheckIdentity(*identity) : absl::OkStatus();
    if (!status.ok()) return status;
  }
  if (objects.has_musl) {
    return Refusal("the program uses musl, which cannot load a glibc library");
  }
  if (objects.has_two_c_libraries) {
    return Refusal("the program has loaded two copies of the C library (dlmopen or an auditor)");
  }
  if (objects.c_library == nullptr && objects.loader != nullptr) {
    return absl::FailedPreconditionError(
        "the program has no C library yet, so it is only just starting; attach again in a moment");
  }
  if (objects.c_library == nullptr || objects.loader == nullptr) {
    return absl::FailedPreconditionError(
        "the program is statically linked (no libc.so.6 and dynamic loader in it), so nothing can "
        "be loaded into it; relink it dynamically");
  }
  const auto identity = ReadElfIdentity(memory, objects.c_library->range.start);
  if (!identity) return absl::DataLossError("the target's libc.so.6 has no readable ELF header");
  return CheckIdentity(*identity);
}

}  // namespace

std::vector<AddressRange> AllocatorRanges(const ElfImage& library) {
  std::vector<AddressRange> ranges;
  uint64_t last_foreign_end = 0;
  bool in_run = false;
  for (const ElfImage::Function& function : library.functions()) {
    if (IsAllocatorFunction(function.name)) {
      if (!in_run) {
        const uint64_t start = std::min(function.range.start, last_foreign_end);
        ranges.push_back({last_foreign_end == 0 ? function.range.start : start, 0});
      }
      in_run = true;
      ranges.back().end = std::max(ranges.back().end, function.range.end);
      continue;
    }
    if (in_run) ranges.back().end = std::max(ranges.back().end, function.range.start);
    in_run = false;
    last_foreign_end = std::max(function.range.start, function.range.end);
  }
  return ranges;
}

namespace {

absl::Status FindLoadingFunctions(const Objects& objects, const ElfImage& c_library,
                                  const MemoryReader& memory, CLibrary& library) {
  const auto errno_address = c_library.FindFunction("__errno_location");
  auto dlopen_address = c_library.FindFunction("dlopen");
  auto dlerror_address = c_library.FindFunction("dlerror");
  if (!dlopen_address && objects.loading_library != nullptr) {
    const auto image = ElfImage::Read(memory, objects.loading_library->range.start);
    if (!image.ok()) return image.status();
    dlopen_address = image->FindFunction("dlopen");
    dlerror_address = image->FindFunction("dlerror");
  }
  if (!errno_address || !dlopen_address || !dlerror_address) {
    return Refusal(absl::StrCat("the program uses glibc 2.", library.glibc_minor_version,
                                " without its libdl.so.2, so nothing can be loaded into it"));
  }
  library.dlopen = *dlopen_address;
  library.dlerror = *dlerror_address;
  library.errno_location = *errno_address;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CLibrary> FindCLibrary(const MemoryMap& map, const MemoryReader& memory) {
  const Objects objects = FindObjects(map);
  if (absl::Status status = CheckObjects(objects, memory); !status.ok()) return status;
  const auto image = ElfImage::Read(memory, objects.c_library->range.start);
  if (!image.ok()) return image.status();

  CLibrary library;
  library.glibc_minor_version = image->HighestGlibcMinorVersion().value_or(0);
  if (library.glibc_minor_version < kOldestGlibc) {
    return Refusal(absl::StrCat("the program uses glibc 2.", library.glibc_minor_version,
                                ", and the agent needs 2.", kOldestGlibc, " or later"));
  }
  absl::Status status = FindLoadingFunctions(objects, *image, memory, library);
  if (!status.ok()) return status;
  library.loader_code = map.ExecutableRanges(*objects.loader);
  if (objects.loading_library != nullptr) {
    const std::vector<AddressRange> code = map.ExecutableRanges(*objects.loading_library);
    library.loader_code.insert(library.loader_code.end(), code.begin(), code.end());
  }
  library.allocator_code = AllocatorRanges(*image);
  library.allocator_code.insert(library.allocator_code.end(), objects.other_allocator_code.begin(),
                                objects.other_allocator_code.end());
  return library;
}

}  // namespace utlz::attach
