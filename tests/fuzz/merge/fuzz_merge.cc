// Two different profiles of hostile frames: merged into one, and each exported. What merge writes
// can be read again, and what export writes for chrome://tracing is JSON.
//
// Input: how many bytes the first has, then the frames of both, each as a type, a source, how many
// bytes it has, and its payload.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "proto/frame.h"
#include "tests/support/fuzz_bytes.h"
#include "tests/support/open_descriptors.h"
#include "tests/support/temporary_folder.h"
#include "tools/export/trace_export.h"
#include "tools/merge/merge.h"
#include "tools/replay/replay.h"

namespace utlz {
namespace {

void AppendFrame(uint16_t type, uint32_t source, std::string_view payload, std::string* profile) {
  FrameHeader header = {static_cast<uint32_t>(payload.size()), type, 0, source, 0};
  header.checksum = FrameChecksum(header, payload.data());
  const size_t end = profile->size() + FrameBytes(header.payload_bytes);
  profile->append(reinterpret_cast<const char*>(&header), sizeof(header));
  profile->append(payload);
  profile->resize(end);
}

std::string MakeProfile(FuzzBytes input) {
  ProfileHeader header = {};
  std::memcpy(header.magic, kProfileMagic, sizeof(header.magic));
  header.version = kProfileVersion;
  std::string profile(reinterpret_cast<const char*>(&header), sizeof(header));
  while (!input.empty()) {
    const uint16_t type = input.Take<uint8_t>() % 64;
    const uint32_t source = input.Take<uint8_t>() % 4;
    AppendFrame(type, source, input.TakeBytes(input.Take<uint16_t>()), &profile);
  }
  return profile;
}

FuzzBytes Part(std::string_view bytes) {
  return FuzzBytes(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

void Export(const std::string& profile, TraceFormat format, const std::string& trace) {
  TraceExportOptions options;
  options.replace = true;
  const bool exported = ExportTrace(profile, format, trace, options).ok();
  if (exported && format == TraceFormat::kChrome && !nlohmann::json::accept(ReadWholeFile(trace))) {
    std::abort();
  }
  std::filesystem::remove(trace);
}

// Sending a profile through the model takes long, so that is not done for every input.
void MergeAndExport(const TemporaryFolder& folder, FuzzBytes* input, size_t size) {
  const TraceFormat format = size % 2 == 0 ? TraceFormat::kPerfetto : TraceFormat::kChrome;
  const auto first_bytes = input->Take<uint16_t>();
  const std::string first =
      folder.Write("first.utlz", MakeProfile(Part(input->TakeBytes(first_bytes))));
  const std::string second = folder.Write("second.utlz", MakeProfile(Part(input->TakeRest())));
  const std::string merged = folder.File("merged.utlz");
  if (MergeProfiles({first, second}, merged).ok()) {
    if (!LoadSummary(merged).ok()) std::abort();
    if (size % 8 == 0 && !ReplayProfile(merged).ok()) std::abort();
    Export(merged, format, folder.File("trace"));
  }
  std::filesystem::remove(merged);
  if (size % 4 < 2) Export(second, format, folder.File("trace"));
}

}  // namespace
}  // namespace utlz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const utlz::TemporaryFolder folder;
  const int open_before = utlz::CountOpenDescriptors();
  utlz::FuzzBytes input(bytes, size);
  utlz::MergeAndExport(folder, &input, size);
  if (utlz::CountOpenDescriptors() != open_before) std::abort();
  return 0;
}
