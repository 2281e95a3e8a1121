#include "collector/live/live_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace utlz {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "live-";
constexpr std::string_view kEnd = ".socket";
constexpr size_t kMostSockets = 64;
constexpr size_t kMostEntries = 4096;  // of a folder that are looked at

}  // namespace

std::string LiveSocketName(pid_t collector) {
  return std::string(kBegin) + std::to_string(collector) + std::string(kEnd);
}

std::optional<pid_t> CollectorOfLiveSocket(std::string_view name) {
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd) ||
      name.size() <= kBegin.size() + kEnd.size()) {
    return std::nullopt;
  }
  const char* const begin = name.data() + kBegin.size();
  const char* const end = name.data() + name.size() - kEnd.size();
  pid_t pid = 0;
  const auto read = std::from_chars(begin, end, pid);
  if (read.ec != std::errc() || read.ptr != end || pid <= 0) return std::nullopt;
  return pid;
}

std::vector<LiveSocketPath> FindLiveSockets(const std::vector<std::string>& folders) {
  std::vector<LiveSocketPath> sockets;
  for (const std::string& folder : folders) {
    std::error_code error;
    size_t entries = 0;
    for (fs::directory_iterator entry(folder, error), end;
         !error && entry != end && entries < kMostEntries; entry.increment(error), ++entries) {
      const auto collector = CollectorOfLiveSocket(entry->path().filename().string());
      if (collector && sockets.size() < kMostSockets) {
        sockets.push_back({entry->path().string(), *collector});
      }
    }
  }
  std::sort(sockets.begin(), sockets.end(),
            [](const auto& a, const auto& b) { return a.collector < b.collector; });
  return sockets;
}

}  // namespace utlz
