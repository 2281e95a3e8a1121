// Where collectors wait for those who want to know how their runs go: Unix sockets in the runtime
// folders (collector/files/runtime_folder.h), named by process.
#ifndef UTLZ_COLLECTOR_LIVE_LIVE_FOLDER_H_
#define UTLZ_COLLECTOR_LIVE_LIVE_FOLDER_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace utlz {

// "live-123.socket"
std::string LiveSocketName(pid_t collector);
// The process of such a name; nothing where it is none.
std::optional<pid_t> CollectorOfLiveSocket(std::string_view name);

struct LiveSocketPath {
  std::string path;
  pid_t collector = 0;  // as its name says
};

// The sockets in these folders, by process, at most 64. A folder that cannot be read has none.
std::vector<LiveSocketPath> FindLiveSockets(const std::vector<std::string>& folders);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LIVE_LIVE_FOLDER_H_
