#include "tools/top/screen/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "collector/clocks.h"
#include "tools/top/screen/keys.h"
// ncurses has macros of common names ("lines"), and comes last.
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <ncurses.h>
#include <term.h>

namespace utlz::top {
namespace {

constexpr int kEscapeDelayMs = 25;
constexpr uint64_t kNsPerMs = 1'000'000;
constexpr std::array kEndingSignals = {SIGHUP, SIGINT,  SIGQUIT, SIGTERM, SIGABRT,
                                       SIGBUS, SIGSEGV, SIGFPE,  SIGILL};

// What a signal handler needs, which can be given nothing: how the terminal was, and what puts it
// back. Filled before any handler is set.
struct WayBack {
  termios settings = {};
  std::array<char, 256> sequence = {};
  size_t sequence_bytes = 0;
  std::array<struct sigaction, kEndingSignals.size()> before = {};
};
WayBack way_back;

// Puts the terminal back with nothing but what a handler may call, and ends as the signal would
// have ended the program. Output may be held up (Ctrl-S), which must not keep it.
void LeaveAndDie(int signal_number) {
  // Without the stop character nothing stays stopped.
  termios flowing = way_back.settings;
  flowing.c_iflag &= ~static_cast<tcflag_t>(IXON);
  tcsetattr(STDOUT_FILENO, TCSANOW, &flowing);
  tcflow(STDOUT_FILENO, TCOON);
  size_t written = 0;
  while (written < way_back.sequence_bytes) {
    const ssize_t count =
        write(STDOUT_FILENO, way_back.sequence.data() + written, way_back.sequence_bytes - written);
    if (count <= 0) break;
    written += static_cast<size_t>(count);
  }
  tcsetattr(STDIN_FILENO, TCSANOW, &way_back.settings);
  struct sigaction as_usual = {};
  as_usual.sa_handler = SIG_DFL;
  sigaction(signal_number, &as_usual, nullptr);
  sigset_t only_this;
  sigemptyset(&only_this);
  sigaddset(&only_this, signal_number);
  raise(signal_number);
  sigprocmask(SIG_UNBLOCK, &only_this, nullptr);
}

// Without the pauses that old terminals need ("$<5>").
void AddCapability(const char* name) {
  const char* text = tigetstr(name);
  if (text == nullptr || text == reinterpret_cast<const char*>(-1)) return;
  std::string_view rest(text);
  while (!rest.empty() && way_back.sequence_bytes < way_back.sequence.size()) {
    if (rest.starts_with("$<")) {
      const size_t end = rest.find('>');
      if (end == std::string_view::npos) return;
      rest.remove_prefix(end + 1);
      continue;
    }
    way_back.sequence[way_back.sequence_bytes++] = rest.front();
    rest.remove_prefix(1);
  }
}

void PrepareWayBack() {
  tcgetattr(STDIN_FILENO, &way_back.settings);
  way_back.sequence_bytes = 0;
  for (const char* name : {"sgr0", "op", "rmkx", "cnorm", "rmcup"}) AddCapability(name);
}

void CatchSignals() {
  struct sigaction leave = {};
  leave.sa_handler = LeaveAndDie;
  sigfillset(&leave.sa_mask);
  for (size_t i = 0; i < kEndingSignals.size(); ++i) {
    sigaction(kEndingSignals[i], nullptr, &way_back.before[i]);
    // Signals that the parent ignores, as nohup does, stay ignored.
    if (way_back.before[i].sa_handler == SIG_IGN) continue;
    sigaction(kEndingSignals[i], &leave, nullptr);
  }
}

void ReleaseSignals() {
  for (size_t i = 0; i < kEndingSignals.size(); ++i) {
    sigaction(kEndingSignals[i], &way_back.before[i], nullptr);
  }
}

bool IsUtf8() { return std::string_view(nl_langinfo(CODESET)) == "UTF-8"; }

// The console of Linux itself has no braille.
bool IsConsole() {
  const char* name = getenv("TERM");
  return name != nullptr && std::string_view(name) == "linux";
}

enum ColorPair : short { kGreen = 1, kBlue, kRed, kMagenta, kCyan, kBlackOnCyan, kBlackOnGreen };

// No color that a light or a dark background swallows, and the background is the terminal's own.
void StartColors() {
  start_color();
  use_default_colors();
  init_pair(kGreen, COLOR_GREEN, -1);
  init_pair(kBlue, COLOR_BLUE, -1);
  init_pair(kRed, COLOR_RED, -1);
  init_pair(kMagenta, COLOR_MAGENTA, -1);
  init_pair(kCyan, COLOR_CYAN, -1);
  init_pair(kBlackOnCyan, COLOR_BLACK, COLOR_CYAN);
  init_pair(kBlackOnGreen, COLOR_BLACK, COLOR_GREEN);
}

struct Look {
  attr_t attributes = A_NORMAL;
  short pair = 0;
};

Look ColoredLook(Style style) {
  switch (style) {
    case Style::kPlain:
      return {};
    case Style::kDim:
      return {A_DIM, 0};
    case Style::kBold:
      return {A_BOLD, 0};
    case Style::kCompute:
    case Style::kGood:
      return {A_NORMAL, kGreen};
    case Style::kMemory:
      return {A_NORMAL, kCyan};
    case Style::kMislead:
      return {A_NORMAL, kMagenta};
    case Style::kBad:
      return {A_BOLD, kRed};
    case Style::kTitle:
      return {A_NORMAL, kBlackOnGreen};
    case Style::kSelected:
      return {A_NORMAL, kBlackOnCyan};
    case Style::kTagged:
      return {A_BOLD, kMagenta};
    case Style::kBar:
      return {A_NORMAL, kBlackOnCyan};
  }
  return {};
}

Look PlainLook(Style style) {
  switch (style) {
    case Style::kDim:
      return {A_DIM, 0};
    case Style::kBold:
    case Style::kBad:
    case Style::kTagged:
      return {A_BOLD, 0};
    case Style::kMislead:
      return {A_UNDERLINE, 0};
    case Style::kTitle:
    case Style::kSelected:
    case Style::kBar:
      return {A_REVERSE, 0};
    default:
      return {};
  }
}

// One character of well-formed UTF-8, which a canvas's cells are.
wchar_t WideOf(const std::string& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() <= 1) return static_cast<wchar_t>(byte(0));
  unsigned code = byte(0) & (0xffu >> (text.size() + 1));
  for (size_t i = 1; i < text.size(); ++i) code = (code << 6) | (byte(i) & 0x3fu);
  return static_cast<wchar_t>(code);
}

int KeyOf(wint_t code) {
  switch (code) {
    case KEY_UP:
      return kKeyUp;
    case KEY_DOWN:
      return kKeyDown;
    case KEY_LEFT:
      return kKeyLeft;
    case KEY_RIGHT:
      return kKeyRight;
    case KEY_PPAGE:
      return kKeyPageUp;
    case KEY_NPAGE:
      return kKeyPageDown;
    case KEY_HOME:
      return kKeyHome;
    case KEY_END:
      return kKeyEnd;
    case KEY_ENTER:
      return kKeyEnter;
    case KEY_BACKSPACE:
      return kKeyBackspace;
    case KEY_RESIZE:
      return kKeyResize;
    default:
      break;
  }
  if (code >= KEY_F(1) && code <= KEY_F(10)) return kKeyF1 + static_cast<int>(code - KEY_F(1));
  return 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Terminal>> Terminal::Open(const TerminalOptions& options) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) {
    return absl::UnavailableError("standard input and output are not both a terminal");
  }
  setlocale(LC_CTYPE, "");
  int error = 0;
  if (setupterm(nullptr, STDOUT_FILENO, &error) != OK || tigetstr("cup") == nullptr) {
    return absl::UnavailableError("this terminal is not known (TERM, terminfo)");
  }
  PrepareWayBack();
  CatchSignals();
  if (newterm(nullptr, stdout, stdin) == nullptr) {
    ReleaseSignals();
    return absl::UnavailableError("this terminal cannot be used");
  }
  const bool unicode = !options.ascii && IsUtf8() && !IsConsole();
  return std::unique_ptr<Terminal>(new Terminal(unicode, !options.no_color && has_colors()));
}

Terminal::Terminal(bool unicode, bool color) : unicode_(unicode), color_(color) {
  cbreak();
  noecho();
  nonl();
  curs_set(0);
  set_escdelay(kEscapeDelayMs);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  if (color_) StartColors();
}

Terminal::~Terminal() {
  endwin();
  ReleaseSignals();
}

int Terminal::width() const { return getmaxx(stdscr); }
int Terminal::height() const { return getmaxy(stdscr); }

void Terminal::Show(const Canvas& canvas) {
  const bool same_size =
      shown_ && shown_->width() == canvas.width() && shown_->height() == canvas.height();
  if (!same_size) erase();
  for (int row = 0; row < canvas.height(); ++row) {
    bool changed = !same_size;
    for (int column = 0; column < canvas.width() && !changed; ++column) {
      changed = canvas.At(row, column) != shown_->At(row, column);
    }
    if (changed) ShowRow(canvas, row);
  }
  refresh();
  shown_.emplace(canvas);
}

void Terminal::ShowRow(const Canvas& canvas, int row) {
  for (int column = 0; column < canvas.width();) {
    const Style style = canvas.At(row, column).style;
    std::wstring text;
    const int begin = column;
    while (column < canvas.width() && canvas.At(row, column).style == style) {
      text.push_back(WideOf(canvas.At(row, column++).text));
    }
    const Look look = color_ ? ColoredLook(style) : PlainLook(style);
    attr_set(look.attributes, look.pair, nullptr);
    mvaddnwstr(row, begin, text.c_str(), static_cast<int>(text.size()));
  }
}

absl::StatusOr<std::optional<int>> Terminal::ReadKey(uint64_t until_ns) {
  while (true) {
    wint_t code = 0;
    const int kind = get_wch(&code);
    if (kind == KEY_CODE_YES) {
      const int key = KeyOf(code);
      if (key == kKeyResize) shown_.reset();
      if (key != 0) return key;
      continue;
    }
    if (kind == OK && code == 12) {  // Ctrl-L: what others wrote over the screen goes
      clearok(stdscr, TRUE);
      shown_.reset();
      return kKeyResize;
    }
    if (kind == OK) return code == '\r' ? static_cast<int>(kKeyEnter) : static_cast<int>(code);
    const uint64_t now_ns = MonotonicNs();
    if (now_ns >= until_ns) return std::optional<int>();
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const auto wait_ms = static_cast<int>(
        std::min<uint64_t>((until_ns - now_ns + kNsPerMs - 1) / kNsPerMs, 1'000'000));
    if (poll(&input, 1, wait_ms) > 0 && (input.revents & POLLIN) == 0) {
      return absl::UnavailableError("the terminal is gone");
    }
  }
}

}  // namespace utlz::top
