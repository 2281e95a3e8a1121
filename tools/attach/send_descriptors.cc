#include "tools/attach/send_descriptors.h"

#include <sys/socket.h>

#include <cstring>
#include <vector>

namespace utlz::attach {

bool SendDescriptors(int socket, absl::Span<const uint8_t> bytes,
                     absl::Span<const int> descriptors) {
  const size_t rights_bytes = descriptors.size() * sizeof(int);
  std::vector<uint8_t> control(CMSG_SPACE(rights_bytes));
  iovec payload = {const_cast<uint8_t*>(bytes.data()), bytes.size()};
  msghdr message = {};
  message.msg_iov = &payload;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(rights_bytes);
  std::memcpy(CMSG_DATA(rights), descriptors.data(), rights_bytes);
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(bytes.size());
}

}  // namespace utlz::attach
