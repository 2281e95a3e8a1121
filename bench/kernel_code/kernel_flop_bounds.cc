// Bounds the FLOPs of launches by the code in libraries, fatbins or cubins:
//
//   kernel_flop_bounds FILE... < LAUNCHES
//
// Each line of LAUNCHES is the mangled name of a kernel, the launch's threads and warps, and what
// was counted, as name=count:error with a name of CountedLaunch. Each line of the output is "code"
// and the number of blocks, where there is code, and the bounds of FP32 and 16 bits, where there
// are.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "collector/kernel_code/flop_bounds.h"
#include "collector/kernel_code/library_code.h"
#include "collector/unique_fd.h"

namespace utlz {
namespace {

using Field = std::optional<CountedInstructions> CountedLaunch::*;

const std::map<std::string, Field>& Fields() {
  static const auto* const fields = new std::map<std::string, Field>{
      {"warp_fma", &CountedLaunch::warp_fma},
      {"warp_fma_lite", &CountedLaunch::warp_fma_lite},
      {"warp_alu", &CountedLaunch::warp_alu},
      {"warp_xu", &CountedLaunch::warp_xu},
      {"warp_all", &CountedLaunch::warp_all},
      {"thread_fma", &CountedLaunch::thread_fma},
      {"thread_fma_lite", &CountedLaunch::thread_fma_lite},
      {"thread_alu", &CountedLaunch::thread_alu},
      {"thread_xu", &CountedLaunch::thread_xu},
      {"thread_lsu", &CountedLaunch::thread_lsu},
      {"thread_all", &CountedLaunch::thread_all},
  };
  return *fields;
}

struct Line {
  std::string name;
  CountedLaunch counted;
};

bool Parse(const std::string& text, Line* line) {
  std::istringstream words(text);
  if (!(words >> line->name >> line->counted.threads >> line->counted.warps)) return false;
  for (std::string word; words >> word;) {
    char name[32];
    CountedInstructions counted;
    if (std::sscanf(word.c_str(), "%31[a-z_]=%lf:%lf", name, &counted.a_launch, &counted.error) !=
        3) {
      return false;
    }
    const auto field = Fields().find(name);
    if (field == Fields().end()) return false;
    line->counted.*field->second = counted;
  }
  return true;
}

double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

bool FindCode(int files, char** paths, const KernelNames& names,
              std::map<std::string, KernelCode>* codes) {
  for (int file = 0; file < files; ++file) {
    // A cubin has no sections of fatbins; it is read whole.
    const UniqueFd fd(open(paths[file], O_RDONLY | O_CLOEXEC));
    const auto keep = [&](const std::string& name, KernelCode code) {
      codes->emplace(name, std::move(code));
    };
    absl::Status status = LibraryKernels(fd.get(), 90).Find(names, keep);
    if (status.ok() && std::string(paths[file]).find(".cubin") != std::string::npos) {
      std::string bytes;
      for (char part[65536]; true;) {
        const ssize_t got = read(fd.get(), part, sizeof(part));
        if (got <= 0) break;
        bytes.append(part, static_cast<size_t>(got));
      }
      status = FindKernelCodeInBytes(bytes, 90, names, keep);
    }
    if (!status.ok()) {
      std::cerr << paths[file] << ": " << status.message() << "\n";
      return false;
    }
  }
  return true;
}

int Run(int files, char** paths) {
  std::vector<Line> lines;
  KernelNames names;
  for (std::string text; std::getline(std::cin, text);) {
    if (!Parse(text, &lines.emplace_back())) {
      std::cerr << "cannot read this line: " << text << "\n";
      return 2;
    }
    names.insert(lines.back().name);
  }
  auto start = std::chrono::steady_clock::now();
  std::map<std::string, KernelCode> codes;
  if (!FindCode(files, paths, names, &codes)) return 1;
  std::fprintf(stderr, "%zu of %zu kernels described in %.1f ms\n", codes.size(), names.size(),
               MillisecondsSince(start));
  double longest = 0;
  start = std::chrono::steady_clock::now();
  for (const Line& line : lines) {
    const auto code = codes.find(line.name);
    if (code == codes.end()) {
      std::printf("\n");
      continue;
    }
    const auto begin = std::chrono::steady_clock::now();
    const std::optional<FlopBounds> bounds = BoundFlops(code->second, line.counted);
    longest = std::max(longest, MillisecondsSince(begin));
    std::printf("code %zu", code->second.blocks.size());
    if (bounds.has_value()) {
      std::printf(" %.17g %.17g %.17g %.17g", bounds->fp32_least, bounds->fp32_most,
                  bounds->half_least, bounds->half_most);
    }
    std::printf("\n");
  }
  std::fprintf(stderr, "%zu launches bounded in %.1f ms, the slowest %.1f ms\n", lines.size(),
               MillisecondsSince(start), longest);
  return 0;
}

}  // namespace
}  // namespace utlz

int main(int argc, char** argv) { return utlz::Run(argc - 1, argv + 1); }
