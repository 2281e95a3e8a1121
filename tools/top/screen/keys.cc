#include "tools/top/screen/keys.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "tools/top/screen/rows.h"

namespace utlz::top {
namespace {

constexpr size_t kMostFilterBytes = 40;
constexpr size_t kMostTicksADot = 30;
constexpr int kPageRows = 10;

constexpr std::array kKeys = {
    KeyHelp{"F10 q", "end"},
    KeyHelp{"F1 h ?", "this help"},
    KeyHelp{"Up Down k j", "select a row (PgUp PgDn Home End)"},
    KeyHelp{"Tab l", "go to the table below, and back; kernels, layers or lines"},
    KeyHelp{"Enter", "open the process, then the kernel, layer or line, over time"},
    KeyHelp{"Esc", "back"},
    KeyHelp{"/ F4", "filter by command, user or PID: Enter keeps it, Esc removes it"},
    KeyHelp{"u", "your own processes alone"},
    KeyHelp{"t F5", "tree of processes"},
    KeyHelp{"+ -", "in the tree: unfold, fold; else charts of less or more time"},
    KeyHelp{"F6 > <", "sort by the next column, the one before"},
    KeyHelp{"o and a letter", "n GPU, p PID, u user, g GPU memory, s step, h HFU, c CPU,"},
    KeyHelp{"", "m host memory, t time"},
    KeyHelp{"r", "reverse the order"},
    KeyHelp{"Space U", "tag a process, take all tags away"},
    KeyHelp{"0 to 9", "hide or show that GPU"},
};

struct SortLetter {
  char letter;
  SortKey key;
};
constexpr std::array kSortLetters = {
    SortLetter{'n', SortKey::kNatural}, SortLetter{'p', SortKey::kPid},
    SortLetter{'u', SortKey::kUser},    SortLetter{'g', SortKey::kGpuMemory},
    SortLetter{'s', SortKey::kStep},    SortLetter{'h', SortKey::kHfu},
    SortLetter{'c', SortKey::kCpu},     SortLetter{'m', SortKey::kHostMemory},
    SortLetter{'t', SortKey::kAge},
};

void SortBy(SortKey key, View* view) {
  view->sort = key;
  view->reversed = false;
}

void NextSortKey(int by, View* view) {
  SortBy(static_cast<SortKey>((static_cast<int>(view->sort) + by + kSortKeys) % kSortKeys), view);
}

void NameSortKey(int key, View* view) {
  view->names_sort_key = false;
  for (const SortLetter& letter : kSortLetters) {
    if (letter.letter == key) SortBy(letter.key, view);
  }
}

void TypeFilter(int key, View* view) {
  if (key == kKeyEnter) {
    view->types_filter = false;
  } else if (key == kKeyEscape) {
    view->types_filter = false;
    view->filter.clear();
  } else if (key == kKeyBackspace || key == '\b') {
    if (!view->filter.empty()) view->filter.pop_back();
  } else if (key >= ' ' && key < 127 && view->filter.size() < kMostFilterBytes) {
    view->filter.push_back(static_cast<char>(key));
  }
}

// By how many rows a key moves; nothing where it does not.
std::optional<int> Movement(int key) {
  switch (key) {
    case kKeyUp:
    case 'k':
      return -1;
    case kKeyDown:
    case 'j':
      return 1;
    case kKeyPageUp:
      return -kPageRows;
    case kKeyPageDown:
      return kPageRows;
    case kKeyHome:
      return INT32_MIN / 2;
    case kKeyEnd:
      return INT32_MAX / 2;
    default:
      return std::nullopt;
  }
}

size_t Moved(size_t from, int by, size_t rows) {
  if (rows == 0) return 0;
  const auto last = static_cast<int64_t>(rows) - 1;
  return static_cast<size_t>(std::clamp(static_cast<int64_t>(from) + by, int64_t{0}, last));
}

class KeyHandler {
 public:
  KeyHandler(const Snapshot& snapshot, View* view)
      : view_(view), processes_(ProcessRows(snapshot, *view)), snapshot_(snapshot) {
    if (!processes_.empty()) {
      selected_ = SelectedProcess(processes_, *view_);
      work_ = WorkRows(processes_[selected_].live, view_->listed);
    }
  }

  void Move(int by) {
    if (view_->page == Page::kHelp) {
      view_->help_line = Moved(view_->help_line, by, kKeys.size());
    } else if (OnWork()) {
      if (work_.empty()) return;
      view_->work = work_[Moved(SelectedWork(work_, *view_), by, work_.size())].id;
    } else if (view_->page == Page::kMain && !processes_.empty()) {
      view_->process = processes_[Moved(selected_, by, processes_.size())].process->pid;
    }
  }

  void Enter() {
    if (view_->page == Page::kHelp) return Back();
    if (processes_.empty()) return;
    view_->process = processes_[selected_].process->pid;
    if (OnWork() && !work_.empty()) {
      view_->work = work_[SelectedWork(work_, *view_)].id;
      view_->page = Page::kWork;
    } else if (view_->page == Page::kMain) {
      view_->page = Page::kProcess;
    }
  }

  void Back() {
    if (view_->page == Page::kHelp) {
      view_->page = view_->page_below_help;
    } else if (view_->page == Page::kWork) {
      view_->page = view_->focus == Focus::kWork ? Page::kMain : Page::kProcess;
    } else if (view_->page == Page::kProcess) {
      view_->page = Page::kMain;
    } else if (view_->focus == Focus::kWork) {
      view_->focus = Focus::kProcesses;
    } else {
      view_->filter.clear();
    }
  }

  void Help() {
    if (view_->page == Page::kHelp) return Back();
    view_->page_below_help = view_->page;
    view_->page = Page::kHelp;
    view_->help_line = 0;
  }

  void ChangeFocus() {
    if (view_->page != Page::kMain) return;
    const bool to_work = view_->focus == Focus::kProcesses && !work_.empty();
    view_->focus = to_work ? Focus::kWork : Focus::kProcesses;
  }

  // Where the next list has nothing, it says why.
  void ChangeList() {
    if (view_->page != Page::kMain && view_->page != Page::kProcess) return;
    view_->listed = After(view_->listed);
    view_->work.reset();
    view_->first_work = 0;
  }

  void Tag() {
    if (processes_.empty()) return;
    const pid_t pid = processes_[selected_].process->pid;
    if (view_->tagged.erase(pid) == 0) view_->tagged.insert(pid);
    Move(1);
  }

  void FoldOrZoom(bool more) {
    if (view_->page == Page::kMain && view_->tree && !processes_.empty()) {
      const pid_t pid = processes_[selected_].process->pid;
      if (more) {
        view_->folded.erase(pid);
      } else {
        view_->folded.insert(pid);
      }
      return;
    }
    size_t& ticks = view_->ticks_a_dot;
    ticks = more ? std::max<size_t>(1, ticks / 2) : std::min(kMostTicksADot, ticks * 2);
  }

  void ToggleGpu(unsigned index) {
    const bool exists = std::any_of(snapshot_.gpus.begin(), snapshot_.gpus.end(),
                                    [index](const GpuSnapshot& gpu) { return gpu.index == index; });
    if (exists && view_->hidden_gpus.erase(index) == 0) view_->hidden_gpus.insert(index);
  }

 private:
  bool OnWork() const {
    return view_->page == Page::kProcess || view_->page == Page::kWork ||
           (view_->page == Page::kMain && view_->focus == Focus::kWork);
  }

  View* const view_;
  const std::vector<ProcessRow> processes_;
  const Snapshot& snapshot_;
  size_t selected_ = 0;
  std::vector<WorkRow> work_;
};

void HandleCharacter(int key, View* view, KeyHandler* handler) {
  if (key >= '0' && key <= '9') return handler->ToggleGpu(static_cast<unsigned>(key - '0'));
  switch (key) {
    case '/':
      view->types_filter = true;
      return;
    case 't':
      view->tree = !view->tree;
      return;
    case 'u':
      view->only_own = !view->only_own;
      return;
    case 'r':
      view->reversed = !view->reversed;
      return;
    case 'o':
      view->names_sort_key = true;
      return;
    case '>':
    case '.':
      return NextSortKey(1, view);
    case '<':
    case ',':
      return NextSortKey(-1, view);
    case '+':
    case '=':
      return handler->FoldOrZoom(true);
    case '-':
      return handler->FoldOrZoom(false);
    case ' ':
      return handler->Tag();
    case 'l':
      return handler->ChangeList();
    case 'U':
      return view->tagged.clear();
    case 'h':
    case '?':
      return handler->Help();
    default:
      return;
  }
}

// htop's function keys as the letters beside them.
int LetterOf(int key) {
  switch (key) {
    case kKeyF1:
      return 'h';
    case kKeyF1 + 2:  // F3
    case kKeyF1 + 3:  // F4
      return '/';
    case kKeyF1 + 4:  // F5
      return 't';
    case kKeyF1 + 5:  // F6
      return '>';
    case kKeyF1 + 6:  // F7
      return '-';
    case kKeyF1 + 7:  // F8
      return '+';
    case kKeyF10:
      return 'q';
    default:
      return key;
  }
}

}  // namespace

std::span<const KeyHelp> AllKeys() { return kKeys; }

bool HandleKey(int key, const Snapshot& snapshot, View* view) {
  if (key == kKeyResize) return true;
  if (view->types_filter) {
    TypeFilter(key, view);
    return true;
  }
  if (view->names_sort_key) {
    NameSortKey(key, view);
    return true;
  }
  key = LetterOf(key);
  if (key == 'q') return false;
  KeyHandler handler(snapshot, view);
  if (const auto by = Movement(key)) {
    handler.Move(*by);
  } else if (key == kKeyEnter || key == '\r') {
    handler.Enter();
  } else if (key == kKeyEscape) {
    handler.Back();
  } else if (key == kKeyTab) {
    handler.ChangeFocus();
  } else {
    HandleCharacter(key, view, &handler);
  }
  return true;
}

}  // namespace utlz::top
