// A terminal in full screen, by ncurses: shows canvases, reads keys, and is left as it was found,
// by destruction and by every signal that ends or crashes the program.
//
// One at a time in a process. Thread safety: none.
#ifndef UTLZ_TOOLS_TOP_SCREEN_TERMINAL_H_
#define UTLZ_TOOLS_TOP_SCREEN_TERMINAL_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "tools/top/screen/canvas.h"

namespace utlz::top {

struct TerminalOptions {
  bool ascii = false;     // though the terminal could show more
  bool no_color = false;  // bold, reverse and underlined alone
};

class Terminal {
 public:
  // Of standard input and output. Unavailable: these are no terminal, or one that is not known
  // (TERM, terminfo) or cannot move its cursor.
  static absl::StatusOr<std::unique_ptr<Terminal>> Open(const TerminalOptions& options);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  int width() const;
  int height() const;
  // Whether it shows UTF-8.
  bool unicode() const { return unicode_; }

  void Show(const Canvas& canvas);

  // A key (keys.h); waits until this moment of CLOCK_MONOTONIC. Nothing: the time is over.
  // kKeyResize: it has another size. Unavailable: the terminal is gone.
  absl::StatusOr<std::optional<int>> ReadKey(uint64_t until_ns);

 private:
  Terminal(bool unicode, bool color);
  void ShowRow(const Canvas& canvas, int row);

  const bool unicode_;
  const bool color_;
  std::optional<Canvas> shown_;
};

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SCREEN_TERMINAL_H_
