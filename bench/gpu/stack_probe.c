// What a callback at each launch costs and what can be read in it, for bench/gpu/stack_probe.py,
// which compiles this as a shared library and loads it with ctypes:
//
//   gcc -O2 -fno-omit-frame-pointer -shared -fPIC -o libstack_probe.so stack_probe.c -ldl -lpthread
//
// It subscribes to CUPTI's callbacks of launches and of graph nodes. In them it reads, without
// Python's lock, the frames of the launching thread (CPython 3.12 only), the native frames that are
// linked by frame pointers, PyTorch's sequence number and the autograd node that runs. The few
// declarations of CUPTI, CUDA, CPython and PyTorch below hold for 64-bit Linux on x86-64;
// stack_probe_library.py refuses other versions of Python. It is a probe: it allocates and keeps
// what an agent would not.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  kDriverDomain = 1,
  kRuntimeDomain = 2,
  kResourceDomain = 3,
  kGraphNodeCreated = 13,
  kGraphNodeCloned = 20,
  kMostFrames = 64,
  kMostNativeFrames = 64,
  kMostLaunches = 1 << 16,
  kMostKeptFrames = 1 << 21,
  kMostKeptReturns = 1 << 20,
  kMostNodes = 1 << 16,
  kMostRecords = 1 << 18,
  kMostCodes = 1 << 12,
  kMostWalks = 1 << 20,
  kCacheEntries = 4096,
  kCacheProbes = 8,
  kActivityBufferBytes = 4 << 20,
};

// What is done at a launch or a new graph node.
enum {
  kWalk = 1,         // the timed walk: a hash of the Python frames, looked up in the thread's cache
  kHashModules = 2,  // with the module of each frame of torch.nn.Module's call
  kHashLocals = 4,   // with the first local of every frame
  kKeep = 8,         // keep the launch with its Python frames
  kNative = 16,      // follow frame pointers
  kSequence = 32,    // PyTorch's sequence number, and the autograd node that runs
};

static const int kDriverLaunches[] = {307, 442, 477, 478, 514, 515, 652, 653};
static const int kRuntimeLaunches[] = {211, 214, 269, 270, 311, 312, 430, 431, 505, 506};

struct CallbackData {
  uint32_t site;
  const char* function_name;
  const void* function_params;
  void* return_value;
  const char* symbol_name;
  void* context;
  uint32_t context_uid;
  uint64_t* correlation_data;
  uint32_t correlation_id;
};

struct ResourceData {
  void* context;
  void* handle;
  void* descriptor;
};

struct GraphData {
  void* graph;
  void* original_graph;
  void* node;
  void* original_node;
  uint32_t node_type;
  void* dependency;
  void* executable;
};

struct KernelRecord {  // the prefix of CUpti_ActivityKernel9
  uint32_t kind;
  uint8_t configuration[4];
  uint32_t cache[2];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t shared[2];
  uint32_t local[2];
  uint32_t correlation_id;
  int64_t grid_id;
  const char* name;
  void* reserved;
  uint64_t queued, submitted;
  uint8_t launch_type[4];
  uint32_t shared_executed;
  uint64_t graph_node_id;
  uint32_t shared_limit;
  uint32_t graph_id;
} __attribute__((packed, aligned(8)));

// The same as in stack_probe_library.py.
struct Frame {
  uint64_t code;
  uint64_t first_local;  // what the cell holds, where it is a cell
  int32_t offset;        // of the instruction, in bytes
  uint8_t owner;
  uint8_t is_cell;
  uint8_t has_local;
  uint8_t unused;
};

struct Launch {
  uint64_t time_ns;
  uint64_t sequence;       // at::sequence_number::peek()
  uint64_t node;           // torch::autograd::Node that runs
  uint64_t node_sequence;  // its number
  uint32_t domain, id;
  uint32_t correlation_id;
  uint32_t thread;
  uint32_t has_python;  // the thread has a Python thread state
  uint32_t frames, first_frame;
  uint32_t returns, first_return;
  uint32_t native_end;  // why the chain of frame pointers ended: EndOfChain
  uint32_t native_ns;
  char symbol[100];
};

struct Node {
  uint64_t id, original_id;
  uint32_t cloned;
  uint32_t graph_id, original_graph_id;
  uint32_t type;
  uint32_t thread;
  uint32_t has_python;
  uint32_t frames, first_frame;
};

struct Record {
  uint64_t graph_node_id, start, end;
  uint32_t kind, correlation_id, graph_id, unused;
  char name[100];
};

struct Code {
  uint64_t code;
  int32_t first_line;
  uint32_t line_table_bytes;
  char file[256];
  char name[128];
  uint8_t line_table[16384];
};

enum EndOfChain { kTooMany, kNull, kOutsideStack, kNotAscending, kUnaligned };

struct CacheEntry {
  uint64_t hash, launches;
};

static struct {
  int (*subscribe)(void** subscriber, void* callback, void* user);
  int (*unsubscribe)(void* subscriber);
  int (*enable_callback)(uint32_t on, void* subscriber, int domain, uint32_t id);
  int (*activity_enable)(int kind);
  int (*activity_disable)(int kind);
  int (*activity_flush)(uint32_t flag);
  int (*activity_register)(void* requested, void* completed);
  int (*next_record)(uint8_t* buffer, size_t bytes, void** record);
  int (*node_id)(void* node, uint64_t* id);
  int (*graph_id)(void* graph, uint32_t* id);
  int (*version)(uint32_t* version);
  void* subscriber;
} cupti;

static struct {
  void* (*this_thread)(void);
  uint64_t cell_type;
  uint64_t module_codes[4];
} python;

static struct {
  uint64_t (*peek)(void);
  void (*current_node)(uint64_t out[2]);  // a std::shared_ptr, returned through its address
  uint64_t sequence_offset;               // in torch::autograd::Node
} torch;

static atomic_uint mode;
static atomic_ulong callbacks;
static atomic_uint launch_count, frame_count, return_count, node_count, record_count, walk_count;
static atomic_uint keep_records;
static atomic_ulong cache_hits, cache_misses, walked_frames;
static unsigned code_count;
static pthread_mutex_t code_lock = PTHREAD_MUTEX_INITIALIZER;

static struct Launch* launches;
static struct Frame* frames;
static uint64_t* returns;
static struct Node* nodes;
static struct Record* records;
static struct Code* codes;
static uint32_t* walk_ns;
static uint16_t* walk_frames;

static __thread struct CacheEntry* cache;
static __thread uint64_t stack_low, stack_high;
static __thread uint32_t thread_id;

static uint64_t NowNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t ThreadId(void) {
  if (thread_id == 0) thread_id = (uint32_t)syscall(SYS_gettid);
  return thread_id;
}

// CPython 3.12. A thread's frames change only when the thread itself runs Python, and each owns its
// code object: inside a callback they stand still, with the lock or without.
enum {
  kThreadCframe = 56,
  kFrameCode = 0,
  kFramePrevious = 8,
  kFramePreviousInstruction = 56,
  kFrameOwner = 70,
  kFrameLocals = 72,
  kOwnedByCstack = 3,
  kObjectType = 8,
  kCellContent = 16,
  kCodeFirstLine = 68,
  kCodeLocals = 72,
  kCodeFile = 112,
  kCodeQualifiedName = 128,
  kCodeLineTable = 136,
  kCodeInstructions = 192,
  kTextLength = 16,
  kTextState = 32,
  kTextAscii = 40,
  kBytesLength = 16,
  kBytesData = 32,
};

static uint64_t Word(uint64_t address) { return *(const uint64_t*)address; }
static int32_t Int(uint64_t address) { return *(const int32_t*)address; }
static uint8_t Byte(uint64_t address) { return *(const uint8_t*)address; }

static uint64_t InnermostFrame(uint64_t thread) {
  const uint64_t cframe = thread ? Word(thread + kThreadCframe) : 0;
  return cframe ? Word(cframe) : 0;
}

static int IsModuleCode(uint64_t code) {
  return code == python.module_codes[0] || code == python.module_codes[1];
}

static uint64_t FirstLocal(uint64_t frame, uint64_t code, int* is_cell) {
  *is_cell = 0;
  if (Int(code + kCodeLocals) <= 0) return 0;
  const uint64_t local = Word(frame + kFrameLocals);
  if (local == 0 || Word(local + kObjectType) != python.cell_type) return local;
  *is_cell = 1;
  return Word(local + kCellContent);
}

static uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

static unsigned HashFrames(unsigned with, uint64_t* result) {
  uint64_t hash = 1;
  unsigned count = 0;
  uint64_t frame = InnermostFrame((uint64_t)python.this_thread());
  for (; frame != 0 && count < kMostFrames; frame = Word(frame + kFramePrevious)) {
    if (Byte(frame + kFrameOwner) == kOwnedByCstack) continue;
    const uint64_t code = Word(frame + kFrameCode);
    hash = Mix(Mix(hash, code), Word(frame + kFramePreviousInstruction));
    if (with & kHashLocals || (with & kHashModules && IsModuleCode(code))) {
      int is_cell;
      hash = Mix(hash, FirstLocal(frame, code, &is_cell));
    }
    ++count;
  }
  *result = hash ? hash : 1;
  return count;
}

static int CacheHas(uint64_t hash) {
  if (cache == NULL) cache = calloc(kCacheEntries, sizeof(*cache));
  for (unsigned probe = 0; probe < kCacheProbes; ++probe) {
    struct CacheEntry* entry = &cache[((hash >> 40) + probe) & (kCacheEntries - 1)];
    if (entry->hash == hash) {
      ++entry->launches;
      return 1;
    }
    if (entry->hash == 0) {
      entry->hash = hash;
      entry->launches = 1;
      return 0;
    }
  }
  cache[hash >> 40 & (kCacheEntries - 1)] = (struct CacheEntry){hash, 1};
  return 0;
}

static void TimedWalk(unsigned with) {
  uint64_t hash;
  const uint64_t begin = NowNs();
  const unsigned count = HashFrames(with, &hash);
  const int hit = CacheHas(hash);
  const uint64_t took = NowNs() - begin;
  atomic_fetch_add_explicit(hit ? &cache_hits : &cache_misses, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&walked_frames, count, memory_order_relaxed);
  const unsigned at = atomic_fetch_add_explicit(&walk_count, 1, memory_order_relaxed);
  if (at >= kMostWalks) return;
  walk_ns[at] = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
  walk_frames[at] = (uint16_t)count;
}

static void CopyText(uint64_t text, char* out, size_t bytes) {
  out[0] = 0;
  if (text == 0 || (Int(text + kTextState) >> 5 & 3) != 3) return;  // compact and ASCII
  size_t length = Word(text + kTextLength);
  const char* from = (const char*)text + kTextAscii;
  if (length >= bytes) from += length - (bytes - 1), length = bytes - 1;
  memcpy(out, from, length);
  out[length] = 0;
}

// Copied in the callback, while the frame keeps the code object alive.
static void KeepCode(uint64_t code) {
  pthread_mutex_lock(&code_lock);
  unsigned at = 0;
  while (at < code_count && codes[at].code != code) ++at;
  if (at == code_count && at < kMostCodes) {
    struct Code* kept = &codes[at];
    kept->code = code;
    kept->first_line = Int(code + kCodeFirstLine);
    CopyText(Word(code + kCodeFile), kept->file, sizeof(kept->file));
    CopyText(Word(code + kCodeQualifiedName), kept->name, sizeof(kept->name));
    const uint64_t table = Word(code + kCodeLineTable);
    const uint64_t bytes = table ? Word(table + kBytesLength) : 0;
    kept->line_table_bytes = bytes <= sizeof(kept->line_table) ? (uint32_t)bytes : 0;
    memcpy(kept->line_table, (const void*)(table + kBytesData), kept->line_table_bytes);
    ++code_count;
  }
  pthread_mutex_unlock(&code_lock);
}

static uint32_t KeepFrames(uint32_t* first, uint32_t* has_python) {
  struct Frame kept[kMostFrames];
  uint32_t count = 0;
  const uint64_t thread = python.this_thread ? (uint64_t)python.this_thread() : 0;
  *has_python = thread != 0;
  uint64_t frame = InnermostFrame(thread);
  for (; frame != 0 && count < kMostFrames; frame = Word(frame + kFramePrevious)) {
    const uint8_t owner = Byte(frame + kFrameOwner);
    if (owner == kOwnedByCstack) continue;
    const uint64_t code = Word(frame + kFrameCode);
    int is_cell;
    const uint64_t local = FirstLocal(frame, code, &is_cell);
    kept[count++] = (struct Frame){
        .code = code,
        .first_local = local,
        .offset = (int32_t)(Word(frame + kFramePreviousInstruction) - code - kCodeInstructions),
        .owner = owner,
        .is_cell = (uint8_t)is_cell,
        .has_local = local != 0};
    KeepCode(code);
  }
  *first = atomic_fetch_add(&frame_count, count);
  if (*first + count > kMostKeptFrames) return 0;
  memcpy(frames + *first, kept, count * sizeof(*kept));
  return count;
}

static void FindStack(void) {
  pthread_attr_t attributes;
  void* low = NULL;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  stack_low = (uint64_t)low;
  stack_high = stack_low + bytes;
}

static void FollowFramePointers(uint64_t frame, struct Launch* launch) {
  uint64_t found[kMostNativeFrames];
  uint32_t count = 0;
  if (stack_high == 0) FindStack();
  const uint64_t begin = NowNs();
  launch->native_end = kTooMany;
  while (count < kMostNativeFrames) {
    if (frame == 0)
      launch->native_end = kNull;
    else if (frame < stack_low || frame + 16 > stack_high)
      launch->native_end = kOutsideStack;
    else if (frame % 8 != 0)
      launch->native_end = kUnaligned;
    if (launch->native_end != kTooMany) break;
    found[count++] = Word(frame + 8);
    const uint64_t next = Word(frame);
    if (next != 0 && next <= frame) {
      launch->native_end = kNotAscending;
      break;
    }
    frame = next;
  }
  launch->native_ns = (uint32_t)(NowNs() - begin);
  launch->first_return = atomic_fetch_add(&return_count, count);
  if (launch->first_return + count > kMostKeptReturns) return;
  memcpy(returns + launch->first_return, found, count * sizeof(*found));
  launch->returns = count;
}

static void ReadSequence(struct Launch* launch) {
  if (torch.peek) launch->sequence = torch.peek();
  if (torch.current_node == NULL) return;
  uint64_t shared[2] = {0, 0};
  torch.current_node(shared);
  launch->node = shared[0];
  if (shared[0] && torch.sequence_offset) {
    launch->node_sequence = Word(shared[0] + torch.sequence_offset);
  }
  // The engine has a reference of its own, so ours is never the last.
  if (shared[1]) atomic_fetch_sub((atomic_int*)(shared[1] + 8), 1);
}

static void KeepLaunch(unsigned doing, uint32_t domain, uint32_t id,
                       const struct CallbackData* call, uint64_t frame_pointer) {
  const unsigned at = atomic_fetch_add(&launch_count, 1);
  if (at >= kMostLaunches) return;
  struct Launch* launch = &launches[at];
  memset(launch, 0, sizeof(*launch));
  launch->time_ns = NowNs();
  launch->domain = domain;
  launch->id = id;
  launch->correlation_id = call->correlation_id;
  launch->thread = ThreadId();
  if (call->symbol_name) {
    snprintf(launch->symbol, sizeof(launch->symbol), "%s", call->symbol_name);
  }
  launch->frames = KeepFrames(&launch->first_frame, &launch->has_python);
  if (doing & kNative) FollowFramePointers(frame_pointer, launch);
  if (doing & kSequence) ReadSequence(launch);
}

static void KeepNode(uint32_t id, const struct GraphData* graph) {
  const unsigned at = atomic_fetch_add(&node_count, 1);
  if (at >= kMostNodes) return;
  struct Node* node = &nodes[at];
  memset(node, 0, sizeof(*node));
  node->cloned = id == kGraphNodeCloned;
  node->type = graph->node_type;
  node->thread = ThreadId();
  if (graph->node) cupti.node_id(graph->node, &node->id);
  if (graph->graph) cupti.graph_id(graph->graph, &node->graph_id);
  if (node->cloned) {
    if (graph->original_node) cupti.node_id(graph->original_node, &node->original_id);
    if (graph->original_graph) cupti.graph_id(graph->original_graph, &node->original_graph_id);
  } else {
    node->frames = KeepFrames(&node->first_frame, &node->has_python);
  }
}

static void OnNothing(void* user, uint32_t domain, uint32_t id, const void* data) {
  (void)user, (void)domain, (void)id, (void)data;
}

static void OnCallback(void* user, uint32_t domain, uint32_t id, const void* data) {
  (void)user;
  atomic_fetch_add_explicit(&callbacks, 1, memory_order_relaxed);
  const unsigned doing = atomic_load_explicit(&mode, memory_order_relaxed);
  if (domain == kResourceDomain) {
    if (doing & kKeep && (id == kGraphNodeCreated || id == kGraphNodeCloned)) {
      KeepNode(id, ((const struct ResourceData*)data)->descriptor);
    }
    return;
  }
  const struct CallbackData* call = data;
  if (call->site != 0) return;  // the call's end
  if (doing & kWalk) TimedWalk(doing);
  if (doing & kKeep) {
    KeepLaunch(doing, domain, id, call, (uint64_t)__builtin_frame_address(0));
  }
}

static void OnBufferRequested(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  *buffer = aligned_alloc(64, kActivityBufferBytes);
  *bytes = kActivityBufferBytes;
  *most_records = 0;
}

static void KeepRecord(const struct KernelRecord* from) {
  const unsigned at = atomic_fetch_add(&record_count, 1);
  if (at >= kMostRecords) return;
  struct Record* record = &records[at];
  memset(record, 0, sizeof(*record));
  record->kind = from->kind;
  if (from->kind != 10) return;
  record->graph_node_id = from->graph_node_id;
  record->graph_id = from->graph_id;
  record->start = from->start;
  record->end = from->end;
  record->correlation_id = from->correlation_id;
  if (from->name) snprintf(record->name, sizeof(record->name), "%s", from->name);
}

static void OnBufferCompleted(void* context, uint32_t stream, uint8_t* buffer, size_t bytes,
                              size_t valid) {
  (void)context, (void)stream, (void)bytes;
  void* record = NULL;
  while (keep_records && valid && cupti.next_record(buffer, valid, &record) == 0) {
    KeepRecord(record);
  }
  free(buffer);
}

static int Take(void* library, const char* name, void* where) {
  void* found = dlsym(library, name);
  memcpy(where, &found, sizeof(found));
  if (found == NULL) fprintf(stderr, "there is no %s\n", name);
  return found ? 0 : 1;
}

// What stack_probe_library.py calls. CUPTI's status, or -1 where something is not there.

int probe_open(void) {
  launches = calloc(kMostLaunches, sizeof(*launches));
  frames = calloc(kMostKeptFrames, sizeof(*frames));
  returns = calloc(kMostKeptReturns, sizeof(*returns));
  nodes = calloc(kMostNodes, sizeof(*nodes));
  records = calloc(kMostRecords, sizeof(*records));
  codes = calloc(kMostCodes, sizeof(*codes));
  walk_ns = calloc(kMostWalks, sizeof(*walk_ns));
  walk_frames = calloc(kMostWalks, sizeof(*walk_frames));
  return walk_frames ? 0 : -1;
}

int probe_open_cupti(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library == NULL) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return -1;
  }
  const int missing = Take(library, "cuptiSubscribe", &cupti.subscribe) +
                      Take(library, "cuptiUnsubscribe", &cupti.unsubscribe) +
                      Take(library, "cuptiEnableCallback", &cupti.enable_callback) +
                      Take(library, "cuptiActivityEnable", &cupti.activity_enable) +
                      Take(library, "cuptiActivityDisable", &cupti.activity_disable) +
                      Take(library, "cuptiActivityFlushAll", &cupti.activity_flush) +
                      Take(library, "cuptiActivityRegisterCallbacks", &cupti.activity_register) +
                      Take(library, "cuptiActivityGetNextRecord", &cupti.next_record) +
                      Take(library, "cuptiGetGraphNodeId", &cupti.node_id) +
                      Take(library, "cuptiGetGraphId", &cupti.graph_id) +
                      Take(library, "cuptiGetVersion", &cupti.version);
  return missing ? -1 : 0;
}

uint32_t probe_cupti_version(void) {
  uint32_t version = 0;
  cupti.version(&version);
  return version;
}

int probe_subscribe(int empty) {
  return cupti.subscribe(&cupti.subscriber, empty ? (void*)OnNothing : (void*)OnCallback, NULL);
}

int probe_unsubscribe(void) { return cupti.unsubscribe(cupti.subscriber); }

static int EnableAll(int on, int domain, const int* ids, size_t count) {
  int first_error = 0;
  for (size_t i = 0; i < count; ++i) {
    const int status =
        cupti.enable_callback((uint32_t)on, cupti.subscriber, domain, (uint32_t)ids[i]);
    if (status != 0 && first_error == 0) first_error = status;
  }
  return first_error;
}

int probe_driver_callbacks(int on) {
  return EnableAll(on, kDriverDomain, kDriverLaunches,
                   sizeof(kDriverLaunches) / sizeof(*kDriverLaunches));
}

int probe_runtime_callbacks(int on) {
  return EnableAll(on, kRuntimeDomain, kRuntimeLaunches,
                   sizeof(kRuntimeLaunches) / sizeof(*kRuntimeLaunches));
}

int probe_node_callbacks(int on) {
  const int ids[] = {kGraphNodeCreated, kGraphNodeCloned};
  return EnableAll(on, kResourceDomain, ids, 2);
}

int probe_activity(int on) {
  static int registered;
  if (!registered) {
    const int status = cupti.activity_register((void*)OnBufferRequested, (void*)OnBufferCompleted);
    if (status != 0) return status;
    registered = 1;
  }
  return on ? cupti.activity_enable(10) : cupti.activity_disable(10);
}

int probe_flush(void) { return cupti.activity_flush(1); }
void probe_keep_records(int on) { keep_records = (unsigned)on; }
void probe_mode(unsigned doing) { mode = doing; }

int probe_open_python(uint64_t first_module_code, uint64_t second_module_code) {
  python.module_codes[0] = first_module_code;
  python.module_codes[1] = second_module_code;
  python.cell_type = (uint64_t)dlsym(RTLD_DEFAULT, "PyCell_Type");
  return Take(RTLD_DEFAULT, "PyGILState_GetThisThreadState", &python.this_thread) ||
                 python.cell_type == 0
             ? -1
             : 0;
}

int probe_open_torch(const char* library_path, uint64_t sequence_offset) {
  void* library = dlopen(library_path, RTLD_NOW | RTLD_NOLOAD);
  if (library == NULL) return -1;
  torch.sequence_offset = sequence_offset;
  return Take(library, "_ZN2at15sequence_number4peekEv", &torch.peek) +
         2 * Take(library, "_ZN5torch8autograd16get_current_nodeEv", &torch.current_node);
}

void probe_clear(void) {
  launch_count = frame_count = return_count = node_count = record_count = walk_count = 0;
  cache_hits = cache_misses = walked_frames = callbacks = 0;
}

static unsigned long Least(unsigned long count, unsigned long most) {
  return count < most ? count : most;
}

unsigned long probe_count(int what) {
  switch (what) {
    case 0:
      return callbacks;
    case 1:
      return Least(launch_count, kMostLaunches);
    case 2:
      return Least(node_count, kMostNodes);
    case 3:
      return Least(record_count, kMostRecords);
    case 4:
      return code_count;
    case 5:
      return Least(walk_count, kMostWalks);
    case 6:
      return cache_hits;
    case 7:
      return cache_misses;
    default:
      return walked_frames;
  }
}

const void* probe_table(int what) {
  switch (what) {
    case 1:
      return launches;
    case 2:
      return nodes;
    case 3:
      return records;
    case 4:
      return codes;
    case 5:
      return walk_ns;
    case 6:
      return walk_frames;
    case 7:
      return frames;
    default:
      return returns;
  }
}

// The library of an address, and the function's name where it is exported.
int probe_where(uint64_t address, char* library, char* function, size_t bytes) {
  Dl_info info;
  if (dladdr((void*)address, &info) == 0 || info.dli_fname == NULL) return -1;
  const char* slash = strrchr(info.dli_fname, '/');
  snprintf(library, bytes, "%s", slash ? slash + 1 : info.dli_fname);
  snprintf(function, bytes, "%s", info.dli_sname ? info.dli_sname : "");
  return 0;
}

// The two clock calls of a timed walk by themselves.
uint64_t probe_clock_ns(int pairs) {
  uint64_t least = UINT64_MAX;
  for (int batch = 0; batch < 20; ++batch) {
    uint64_t sum = 0;
    for (int i = 0; i < pairs; ++i) {
      const uint64_t begin = NowNs();
      sum += NowNs() - begin;
    }
    if (sum / (uint64_t)pairs < least) least = sum / (uint64_t)pairs;
  }
  return least;
}

// As a callback does, without CUPTI: for machines without a GPU.
void probe_pretend_launch(uint32_t correlation_id) {
  const struct CallbackData call = {.symbol_name = "pretended", .correlation_id = correlation_id};
  OnCallback(NULL, kDriverDomain, 307, &call);
}

// A program of empty kernels that has no PyTorch in it.

static struct {
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**);
  int (*synchronize)(void*);
  int (*begin_capture)(void*, int);
  int (*end_capture)(void*, void**);
  int (*instantiate)(void**, void*, unsigned long long);
  int (*launch_graph)(void*, void*);
  void *kernel, *stream, *graph;
} cuda;

static const char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n";

// cubin: a file with the kernel, or an empty name for the PTX above.
int probe_open_cuda(const char* cubin) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) return -1;
  int (*init)(unsigned), (*retain)(void**, int), (*set)(void*), (*stream)(void**, unsigned);
  int (*load)(void**, const char*), (*load_data)(void**, const void*);
  int (*function)(void**, void*, const char*);
  if (Take(library, "cuInit", &init) || Take(library, "cuDevicePrimaryCtxRetain", &retain) ||
      Take(library, "cuCtxSetCurrent", &set) || Take(library, "cuStreamCreate", &stream) ||
      Take(library, "cuModuleLoad", &load) || Take(library, "cuModuleLoadData", &load_data) ||
      Take(library, "cuModuleGetFunction", &function) ||
      Take(library, "cuLaunchKernel", &cuda.launch) ||
      Take(library, "cuStreamSynchronize", &cuda.synchronize) ||
      Take(library, "cuStreamBeginCapture_v2", &cuda.begin_capture) ||
      Take(library, "cuStreamEndCapture", &cuda.end_capture) ||
      Take(library, "cuGraphInstantiateWithFlags", &cuda.instantiate) ||
      Take(library, "cuGraphLaunch", &cuda.launch_graph)) {
    return -1;
  }
  void *context, *module;
  int status = init(0);
  if (status == 0) status = retain(&context, 0);
  if (status == 0) status = set(context);
  if (status == 0) status = cubin[0] ? load(&module, cubin) : load_data(&module, kPtx);
  if (status == 0) status = function(&cuda.kernel, module, "empty");
  if (status == 0) status = stream(&cuda.stream, 1);
  return status;
}

static int LaunchMany(int count) {
  int status = 0;
  for (int i = 0; i < count; ++i) {
    status |= cuda.launch(cuda.kernel, 1, 1, 1, 32, 1, 1, 0, cuda.stream, NULL, NULL);
  }
  return status;
}

int probe_make_graph(int count) {
  void* graph;
  int status = cuda.begin_capture(cuda.stream, 0);
  if (status == 0) status = LaunchMany(count);
  if (status == 0) status = cuda.end_capture(cuda.stream, &graph);
  return status ? status : cuda.instantiate(&cuda.graph, graph, 0);
}

// The time of the launching thread for `count` launches, which the GPU's queue can hold.
int probe_launches(int count, uint64_t* launched_ns) {
  const uint64_t begin = NowNs();
  const int status = LaunchMany(count);
  *launched_ns = NowNs() - begin;
  return status | cuda.synchronize(cuda.stream);
}

int probe_replay(uint64_t* launched_ns, uint64_t* ended_ns) {
  const uint64_t begin = NowNs();
  const int status = cuda.launch_graph(cuda.graph, cuda.stream);
  *launched_ns = NowNs() - begin;
  const int waited = cuda.synchronize(cuda.stream);
  *ended_ns = NowNs() - begin;
  return status | waited;
}
