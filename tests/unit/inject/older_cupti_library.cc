// A libcupti of before 12.6, as far as its file shows. Whoever loads it dies of it.
#include <cstdlib>

#define FUNCTION(name) \
  extern "C" __attribute__((visibility("default"))) int name() { return 1; }

FUNCTION(cuptiGetVersion)
FUNCTION(cuptiGetTimestamp)
FUNCTION(cuptiSubscribe)
FUNCTION(cuptiUnsubscribe)
FUNCTION(cuptiEnableCallback)
FUNCTION(cuptiEnableDomain)
FUNCTION(cuptiActivityRegisterCallbacks)
FUNCTION(cuptiActivityEnable)
FUNCTION(cuptiActivityDisable)
FUNCTION(cuptiActivityFlushAll)
FUNCTION(cuptiActivityGetNextRecord)
FUNCTION(cuptiActivityGetNumDroppedRecords)
FUNCTION(cuptiActivitySetAttribute)

namespace {
[[gnu::constructor]] void OnLoad() { std::abort(); }
}  // namespace
