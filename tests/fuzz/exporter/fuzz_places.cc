// What a process's environment and cgroup may hold, up to a label on a page: one line a sample.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "collector/metrics/label_text.h"
#include "tools/exporter/exposition.h"
#include "tools/exporter/find_places.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const utlz::ProcessPlace place = utlz::PlaceIn(text, text);
  utlz::MetricsSnapshot snapshot;
  for (const std::string& value :
       {place.pod, place.pod_uid, place.pod_namespace, place.container, place.job}) {
    const std::string label = utlz::LabelText(value);
    if (label.size() > utlz::kMaxLabelBytes) std::abort();
    snapshot.Add(utlz::Metric::kHfu, {{"pod", label}}, 0.5);
  }
  // Five samples, and the lines of help and type.
  const std::string page = utlz::WritePage(snapshot, utlz::PageFormat::kText);
  if (std::count(page.begin(), page.end(), '\n') != 7) std::abort();
  return 0;
}
