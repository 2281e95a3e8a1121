// Loaded into Python programs: captures CUDA graphs by functions of the CUDA runtime that it is
// linked to, and subscribes to CUPTI's callbacks as it is linked to that, as PyTorch's libraries
// do.
extern "C" {

int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamEndCapture(void* stream, void** graph);
int cudaGraphInstantiate(void** executable, void* graph, unsigned long long flags);
int cudaGraphLaunch(void* executable, void* stream);
int cuptiSubscribe(const void** subscriber,
                   void (*callback)(void*, unsigned, unsigned, const void*), void* user);
int cuptiUnsubscribe(const void* subscriber);

int captures_begin(void* stream) { return cudaStreamBeginCapture(stream, 0); }
int captures_end(void* stream, void** graph) { return cudaStreamEndCapture(stream, graph); }
int captures_instantiate(void** executable, void* graph) {
  return cudaGraphInstantiate(executable, graph, 0);
}
int captures_launch(void* executable, void* stream) { return cudaGraphLaunch(executable, stream); }

int captures_subscribe(const void** subscriber) {
  return cuptiSubscribe(
      subscriber, [](void*, unsigned, unsigned, const void*) {}, nullptr);
}
int captures_unsubscribe(const void* subscriber) { return cuptiUnsubscribe(subscriber); }
}
