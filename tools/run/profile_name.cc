#include "tools/run/profile_name.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr size_t kMaxCommandBytes = 64;

bool IsPlain(unsigned char byte) {
  return absl::ascii_isalnum(byte) || byte == '.' || byte == '-' || byte >= 0x80;
}

// Cut so that no UTF-8 character is split.
std::string Shorten(std::string name) {
  if (name.size() <= kMaxCommandBytes) return name;
  size_t end = kMaxCommandBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  name.resize(end);
  return name;
}

}  // namespace

std::string DefaultProfileName(const std::string& command, time_t now, pid_t pid, uint32_t random) {
  std::string name = Shorten(command.substr(command.rfind('/') + 1));
  for (char& byte : name) {
    if (!IsPlain(static_cast<unsigned char>(byte))) byte = '_';
  }
  tm local = {};
  localtime_r(&now, &local);
  char date[32];
  strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &local);
  return absl::StrCat("utlz-", name, "-", date, "-", pid, "-", absl::Hex(random, absl::kZeroPad8),
                      ".utlz");
}

}  // namespace utlz
