// The screen of one moment, as a pure function of what is known and of what a person looks at.
#ifndef UTLZ_TOOLS_TOP_SCREEN_DRAW_H_
#define UTLZ_TOOLS_TOP_SCREEN_DRAW_H_

#include "tools/top/screen/canvas.h"
#include "tools/top/screen/history.h"
#include "tools/top/screen/view.h"
#include "tools/top/snapshot.h"

namespace utlz::top {

// `view` keeps where tables were scrolled to.
Canvas Draw(const Snapshot& snapshot, const History& history, View* view);

// A terminal of this size is too small for anything but a sentence.
inline constexpr int kLeastWidth = 40;
inline constexpr int kLeastHeight = 8;

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SCREEN_DRAW_H_
