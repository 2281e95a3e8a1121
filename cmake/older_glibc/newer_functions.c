// What the compiler's libraries and this project use of a C library newer than 2.28, done with what
// 2.28 has. Linked into each file that must start on older systems; the linker drops what a file
// does not use. Hidden, so that nobody else binds to these.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#pragma GCC visibility push(hidden)

// 2.33: functions instead of these, which take the layout's number.
#if defined(__x86_64__)
enum { kStatLayout = 1 };
#elif defined(__aarch64__)
enum { kStatLayout = 0 };
#else
#error "No number of struct stat's layout is known for this architecture"
#endif
#pragma GCC visibility push(default)
int __xstat(int layout, const char* path, struct stat* out);
int __lxstat(int layout, const char* path, struct stat* out);
int __fxstat(int layout, int fd, struct stat* out);
int __fxstatat(int layout, int fd, const char* path, struct stat* out, int flags);
#pragma GCC visibility pop

int stat(const char* path, struct stat* out) { return __xstat(kStatLayout, path, out); }
int lstat(const char* path, struct stat* out) { return __lxstat(kStatLayout, path, out); }
int fstat(int fd, struct stat* out) { return __fxstat(kStatLayout, fd, out); }
int fstatat(int fd, const char* path, struct stat* out, int flags) {
  return __fxstatat(kStatLayout, fd, path, out, flags);
}
// The same layout where a long has 64 bits.
int stat64(const char* path, struct stat64* out) {
  return __xstat(kStatLayout, path, (struct stat*)out);
}
int lstat64(const char* path, struct stat64* out) {
  return __lxstat(kStatLayout, path, (struct stat*)out);
}
int fstat64(int fd, struct stat64* out) { return __fxstat(kStatLayout, fd, (struct stat*)out); }
int fstatat64(int fd, const char* path, struct stat64* out, int flags) {
  return __fxstatat(kStatLayout, fd, path, (struct stat*)out, flags);
}

// 2.32: libstdc++ counts references without atomic instructions where this is true.
char __libc_single_threaded = 0;

// 2.35: gcc 12's unwinder asks for nothing else. Before, it walked the loaded objects like this.
struct ObjectSearch {
  ElfW(Addr) address;
  struct dl_find_object* result;
};

static int HoldsAddress(const struct dl_phdr_info* object, ElfW(Addr) address,
                        struct dl_find_object* result) {
  const ElfW(Phdr)* frames = NULL;
  int found = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &object->dlpi_phdr[i];
    const ElfW(Addr) start = object->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) frames = header;
    if (header->p_type != PT_LOAD || address < start || address - start >= header->p_memsz)
      continue;
    found = 1;
    result->dlfo_map_start = (void*)start;
    result->dlfo_map_end = (void*)(start + header->p_memsz);
  }
  if (!found || frames == NULL) return 0;
  result->dlfo_eh_frame = (void*)(object->dlpi_addr + frames->p_vaddr);
  return 1;
}

static int VisitObject(struct dl_phdr_info* object, size_t size, void* search_of) {
  const struct ObjectSearch* search = search_of;
  (void)size;
  return HoldsAddress(object, search->address, search->result);
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  struct ObjectSearch search = {(ElfW(Addr))address, result};
  memset(result, 0, sizeof *result);
  return dl_iterate_phdr(VisitObject, &search) != 0 ? 0 : -1;
}

// What this process's C library has of these itself; nothing in the test of what stands in for it.
static void* FromCLibrary(const char* name) {
#ifdef UTLZ_OLDER_GLIBC_ONLY
  (void)name;
  return NULL;
#else
  return dlsym(RTLD_DEFAULT, name);
#endif
}

// 2.34: descriptors that are open now are closed one by one. Those that this process opens close
// themselves; what must be closed here was inherited, and lies there already.
static int AddCloseOfEach(posix_spawn_file_actions_t* actions, int first) {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == NULL) return errno;
  int error = 0;
  for (const struct dirent* entry; error == 0 && (entry = readdir(folder)) != NULL;) {
    char* end;
    const long fd = strtol(entry->d_name, &end, 10);
    if (*end != '\0' || fd < first || fd == dirfd(folder)) continue;
    error = posix_spawn_file_actions_addclose(actions, (int)fd);
  }
  closedir(folder);
  return error;
}

int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions, int first) {
  int (*library_function)(posix_spawn_file_actions_t*, int) = NULL;
  *(void**)&library_function = FromCLibrary("posix_spawn_file_actions_addclosefrom_np");
  if (library_function != NULL) return library_function(actions, first);
  return AddCloseOfEach(actions, first);
}

// 2.30: a wait that setting the clock does not lengthen. An older library knows no such wait, so
// the same patience is counted by the clock that it has. Looked up once, when the file is loaded: a
// caller may be where the dynamic loader's lock must not be taken.
static int (*clocked_lock)(pthread_mutex_t*, clockid_t, const struct timespec*);

__attribute__((constructor)) static void FindClockedLock(void) {
  *(void**)&clocked_lock = FromCLibrary("pthread_mutex_clocklock");
}

static long long NanosecondsOf(const struct timespec* time) {
  return time->tv_sec * 1000000000LL + time->tv_nsec;
}

static int LockByRealtime(pthread_mutex_t* mutex, clockid_t clock,
                          const struct timespec* deadline) {
  struct timespec now, realtime;
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &realtime) != 0)
    return EINVAL;
  const long long end_ns = NanosecondsOf(&realtime) + NanosecondsOf(deadline) - NanosecondsOf(&now);
  const struct timespec end = {(time_t)(end_ns / 1000000000LL), (long)(end_ns % 1000000000LL)};
  return pthread_mutex_timedlock(mutex, &end);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                            const struct timespec* deadline) {
  if (clocked_lock != NULL) return clocked_lock(mutex, clock, deadline);
  return LockByRealtime(mutex, clock, deadline);
}

#pragma GCC visibility pop
