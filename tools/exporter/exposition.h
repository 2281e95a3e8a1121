// Pages of metrics as Prometheus reads them: text format 0.0.4, and OpenMetrics 1.0.
// Thread safety: functions only.
#ifndef UTLZ_TOOLS_EXPORTER_EXPOSITION_H_
#define UTLZ_TOOLS_EXPORTER_EXPOSITION_H_

#include <string>
#include <string_view>

#include "collector/metrics/metrics_snapshot.h"

namespace utlz {

enum class PageFormat { kText, kOpenMetrics };

std::string WritePage(const MetricsSnapshot& snapshot, PageFormat format);

const char* ContentTypeOf(PageFormat format);

// What an Accept header prefers; text where it asks for neither.
PageFormat ChooseFormat(std::string_view accept);

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORTER_EXPOSITION_H_
