// What keys do to a View. Those of htop and nvitop where they have one. Pure.
#ifndef UTLZ_TOOLS_TOP_SCREEN_KEYS_H_
#define UTLZ_TOOLS_TOP_SCREEN_KEYS_H_

#include <cstddef>
#include <span>

#include "tools/top/screen/view.h"
#include "tools/top/snapshot.h"

namespace utlz::top {

// A character, or one of these.
enum Key : int {
  kKeyEscape = 27,
  kKeyEnter = '\n',
  kKeyTab = '\t',
  kKeyBackspace = 127,
  kKeyUp = 0x110000,  // beyond all characters
  kKeyDown,
  kKeyPageUp,
  kKeyPageDown,
  kKeyHome,
  kKeyEnd,
  kKeyLeft,
  kKeyRight,
  kKeyF1,  // to F10
  kKeyF10 = kKeyF1 + 9,
  kKeyResize,
};

struct KeyHelp {
  const char* keys;
  const char* what;
};
std::span<const KeyHelp> AllKeys();

// False: to end.
bool HandleKey(int key, const Snapshot& snapshot, View* view);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SCREEN_KEYS_H_
