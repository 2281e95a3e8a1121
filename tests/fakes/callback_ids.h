// Callback numbers of the driver calls and resource events that the fakes report.
#ifndef UTLZ_TESTS_FAKES_CALLBACK_IDS_H_
#define UTLZ_TESTS_FAKES_CALLBACK_IDS_H_

#include <cstdint>

namespace utlz::fake {

enum DriverCallback : uint32_t {
  kCallInit = 1,
  kCallDeviceGetCount = 4,
  kCallCtxSynchronize = 17,
  kCallModuleLoadData = 19,
  kCallModuleUnload = 22,
  kCallModuleGetFunction = 23,
  kCallEventRecord = 119,
  kCallEventSynchronize = 121,
  kCallStreamCreate = 124,
  kCallStreamSynchronize = 126,
  kCallMemsetD8Async = 216,
  kCallMemsetD32Async = 220,
  kCallCtxCreate = 235,
  kCallMemAlloc = 243,
  kCallMemFree = 245,
  kCallMemsetD8 = 249,
  kCallMemcpyHtoD = 276,
  kCallMemcpyHtoDAsync = 277,
  kCallMemcpyDtoH = 278,
  kCallMemcpyDtoHAsync = 279,
  kCallMemcpyDtoD = 280,
  kCallMemcpyDtoDAsync = 281,
  kCallStreamWaitEvent = 295,
  kCallLaunchKernel = 307,
  kCallCtxDestroy = 322,
  kCallStreamDestroy = 326,
  kCallStreamCreateWithPriority = 367,
  kCallPrimaryCtxRetain = 386,
  kCallLaunchCooperativeKernel = 477,
  kCallStreamEndCapture = 497,
  kCallGraphCreate = 501,
  kCallGraphAddMemsetNode = 506,
  kCallGraphLaunch = 514,
  kCallGraphExecDestroy = 516,
  kCallGraphDestroy = 517,
  kCallLaunchHostFunc = 527,
  kCallStreamBeginCapture = 539,
  kCallPrimaryCtxRelease = 544,
  kCallGraphInstantiateWithFlags = 643,
  kCallLaunchKernelEx = 652,
  kCallGraphAddKernelNode = 689,
  kCallGraphExecKernelNodeSetParams = 692,
  kCallGraphExecUpdate = 696,
  kCallGraphAddNode = 723,
};

enum ResourceEvent : uint32_t {
  kContextCreated = 1,
  kContextDestroyStarting = 2,
  kStreamCreated = 3,
  kStreamDestroyStarting = 4,
  kInitFinished = 5,
  kModuleLoaded = 6,
  kModuleUnloadStarting = 7,
  kGraphCreated = 9,
  kGraphDestroyStarting = 10,
  kGraphNodeCreated = 13,
  kGraphExecCreateStarting = 17,
  kGraphExecCreated = 18,
  kGraphExecDestroyStarting = 19,
  kGraphNodeCloned = 20,
  kGraphNodeUpdated = 22,
  kGraphNodeSetParams = 23,
};

enum SynchronizeEvent : uint32_t {
  kStreamSynchronized = 1,
  kContextSynchronized = 2,
};

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_CALLBACK_IDS_H_
