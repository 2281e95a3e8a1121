#include "collector/sampler/sharing/counter_pause.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "collector/files/runtime_folder.h"
#include "collector/gpu_uuid.h"
#include "collector/unique_fd.h"

namespace utlz {
namespace {

constexpr char kFolderOfRoot[] = "/run/utlz";
constexpr char kBegin[] = "utlz.pause/1 ";
constexpr size_t kMaxNoteBytes = 256;
constexpr size_t kMaxNameBytes = 100;

std::string NameOf(const std::string& uuid) { return absl::StrCat("pause-", FormatGpuUuid(uuid)); }

// It goes into sentences and onto terminals.
std::string Printable(std::string_view text) {
  std::string printable(text.substr(0, kMaxNameBytes));
  for (char& letter : printable) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return printable;
}

std::optional<CounterPause> Parse(std::string_view note) {
  constexpr std::string_view begin = kBegin;
  if (!note.starts_with(begin)) return std::nullopt;
  note.remove_prefix(begin.size());
  const size_t space = note.find(' ');
  CounterPause pause;
  if (space == std::string_view::npos ||
      !absl::SimpleAtoi(std::string(note.substr(0, space)), &pause.until_ns)) {
    return std::nullopt;
  }
  note.remove_prefix(space + 1);
  pause.by = Printable(note.substr(0, note.find('\n')));
  return pause;
}

}  // namespace

absl::Status WritePause(const std::string& folder, const std::string& uuid,
                        const CounterPause& pause) {
  const absl::StatusOr<UniqueFd> own = OpenOwnFolder(folder);
  if (!own.ok()) return own.status();
  const std::string name = NameOf(uuid);
  const std::string begun = absl::StrCat(name, ".", getpid());
  const std::string note = absl::StrCat(kBegin, pause.until_ns, " ", Printable(pause.by), "\n");
  unlinkat(own->get(), begun.c_str(), 0);
  const UniqueFd file(openat(own->get(), begun.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  const bool written =
      file.valid() &&
      write(file.get(), note.data(), note.size()) == static_cast<ssize_t>(note.size()) &&
      renameat(own->get(), begun.c_str(), own->get(), name.c_str()) == 0;
  if (written) return absl::OkStatus();
  const absl::Status status =
      absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", folder, "/", name));
  unlinkat(own->get(), begun.c_str(), 0);
  return status;
}

absl::Status EndPause(const std::string& folder, const std::string& uuid) {
  const absl::StatusOr<UniqueFd> own = OpenOwnFolder(folder);
  if (!own.ok()) return own.status();
  const std::string name = NameOf(uuid);
  if (unlinkat(own->get(), name.c_str(), 0) == 0) return absl::OkStatus();
  if (errno == ENOENT) return absl::NotFoundError("the counters are not lent by utlz pause");
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot remove ", folder, "/", name));
}

std::optional<CounterPause> ReadPause(const std::string& folder, const std::string& uuid,
                                      uint64_t now_ns) {
  const std::string path = absl::StrCat(folder, "/", NameOf(uuid));
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!file.valid() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      (status.st_uid != geteuid() && status.st_uid != 0)) {
    return std::nullopt;
  }
  char note[kMaxNoteBytes];
  const ssize_t size = read(file.get(), note, sizeof(note));
  if (size <= 0) return std::nullopt;
  const std::optional<CounterPause> pause = Parse({note, static_cast<size_t>(size)});
  if (!pause || pause->until_ns <= now_ns || pause->until_ns - now_ns > kLongestPauseNs) {
    return std::nullopt;
  }
  return pause;
}

const std::optional<CounterPause>& PauseWatch::Of(const std::string& uuid, uint64_t now_ns,
                                                  uint64_t realtime_ns) {
  Seen& seen = seen_[uuid];
  if (now_ns < seen.next_look_ns) return seen.pause;
  seen.next_look_ns = now_ns + kLookNs;
  seen.pause = ReadPause(folder_, uuid, realtime_ns);
  if (!seen.pause && folder_ != kFolderOfRoot) {
    seen.pause = ReadPause(kFolderOfRoot, uuid, realtime_ns);
  }
  return seen.pause;
}

}  // namespace utlz
