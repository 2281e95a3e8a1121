// What a collector, or an impostor, may send to utlz top: it is read the same in one
// piece and byte by byte, what is taken passes every check, and what is drawn of it is printable.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "collector/live/live_message.h"
#include "tools/top/screen/draw.h"
#include "tools/top/screen/rows.h"
#include "tools/top/snapshot_json.h"

namespace {

void Draw(const std::vector<utlz::LiveSnapshot>& runs) {
  utlz::top::Snapshot snapshot{.time_ns = 1, .gpus = {{.index = 0}}, .runs = runs};
  utlz::top::GpuSnapshot& gpu = snapshot.gpus.front();
  gpu.processes.emplace();
  for (utlz::LiveSnapshot& run : snapshot.runs) {
    run.set_accepted(true);
    if (run.devices_size() > 0) gpu.uuid = run.devices(0).uuid();
    for (const utlz::LiveProcess& process : run.processes()) {
      gpu.processes->push_back({.pid = static_cast<pid_t>(process.pid())});
    }
  }
  utlz::top::History history;
  history.Add(snapshot);
  using utlz::top::Page;
  using utlz::top::WorkKind;
  for (int i = 0; i < 9; ++i) {
    constexpr Page kPages[] = {Page::kMain, Page::kProcess, Page::kWork};
    const auto listed = static_cast<WorkKind>(i / 3);
    utlz::top::View view{.width = 100, .height = 40, .page = kPages[i % 3], .listed = listed};
    if (!gpu.processes->empty()) view.process = gpu.processes->front().pid;
    for (const utlz::LiveSnapshot& run : snapshot.runs) {
      if (run.processes_size() == 0) continue;
      const auto rows = WorkRows({&run, &run.processes(0)}, listed);
      if (!rows.empty()) view.work = rows.front().id;
    }
    const std::string text = utlz::top::Draw(snapshot, history, &view).Text();
    for (const char byte : text) {
      if (byte != '\n' && static_cast<unsigned char>(byte) < ' ') std::abort();
    }
  }
  if (utlz::top::SnapshotJson(snapshot).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  std::vector<utlz::LiveSnapshot> whole;
  utlz::LiveStream at_once;
  const bool ok = at_once
                      .Push(text,
                            [&](utlz::LiveSnapshot snapshot) {
                              if (!CheckLive(snapshot).ok()) std::abort();
                              whole.push_back(std::move(snapshot));
                            })
                      .ok();
  utlz::LiveStream bytewise;
  size_t count = 0;
  bool bytewise_ok = true;
  for (size_t i = 0; i < size && bytewise_ok; ++i) {
    bytewise_ok =
        bytewise.Push(text.substr(i, 1), [&](const utlz::LiveSnapshot&) { ++count; }).ok();
  }
  if (ok != bytewise_ok || count != whole.size()) std::abort();
  Draw(whole);
  return 0;
}
