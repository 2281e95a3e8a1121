// Counts the instructions that a thread executes between two marks, by the file that they are in. A
// count does not depend on how fast the processor happens to be, as times on a shared host do.
//
//   gcc -O2 -o step_launches step_launches.c
//   gcc -O2 -shared -fPIC -DMARK -o libmark.so step_launches.c
//   step_launches COUNTS PROGRAM ARGUMENT…
//
// Runs PROGRAM with its first thread traced by ptrace. The program calls Mark() of libmark.so before
// and after what is to be counted; between the two this program steps the thread, instruction by
// instruction, some thousand times slower than it runs. Everything else runs at full speed. COUNTS
// gets a line of JSON for each pair of marks: {"total": 12345, "libcuda.so.1": 9000, …}. Only system
// calls and what other threads do are not counted. Exits with the status of PROGRAM.
#ifdef MARK

void Mark(void) { __asm__ volatile("int3"); }

#else

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMostRanges = 8192, kMostFiles = 512, kNameBytes = 256 };

struct Range {
  uint64_t begin, end;
  int file;
};

static struct Range ranges[kMostRanges];
static int range_count;
static char files[kMostFiles][kNameBytes];
static uint64_t counts[kMostFiles];
static int file_count;

static int FileNamed(const char* name) {
  for (int i = 0; i < file_count; ++i)
    if (strcmp(files[i], name) == 0) return i;
  if (file_count == kMostFiles) return kMostFiles - 1;
  snprintf(files[file_count], kNameBytes, "%s", name);
  return file_count++;
}

// Only what can be executed. The kernel lists mappings by address.
static void ReadRanges(pid_t process) {
  char path[64], line[4096];
  snprintf(path, sizeof path, "/proc/%d/maps", process);
  FILE* maps = fopen(path, "r");
  range_count = 0;
  if (maps == NULL) return;
  while (range_count < kMostRanges && fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin, end;
    char rights[8];
    if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3 || rights[2] != 'x') continue;
    line[strcspn(line, "\n")] = 0;
    const char* name = strrchr(line, '/');
    ranges[range_count++] =
        (struct Range){begin, end, FileNamed(name == NULL ? "no file" : name + 1)};
  }
  fclose(maps);
}

static const struct Range* RangeOf(uint64_t address) {
  int low = 0, high = range_count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (address < ranges[middle].begin) {
      high = middle;
    } else if (address >= ranges[middle].end) {
      low = middle + 1;
    } else {
      return &ranges[middle];
    }
  }
  return NULL;
}

static uint64_t InstructionPointer(pid_t thread) {
  return (uint64_t)ptrace(PTRACE_PEEKUSER, thread, offsetof(struct user_regs_struct, rip), 0);
}

static void Write(FILE* output, uint64_t total) {
  fprintf(output, "{\"total\": %llu", (unsigned long long)total);
  for (int i = 0; i < file_count; ++i) {
    if (counts[i] != 0) fprintf(output, ", \"%s\": %llu", files[i], (unsigned long long)counts[i]);
  }
  fprintf(output, "}\n");
  fflush(output);
}

// From one mark to the next. Returns the status of a wait that ended it, or 0.
static int Step(pid_t thread, uint64_t mark, FILE* output) {
  ReadRanges(thread);
  memset(counts, 0, sizeof counts);
  const int other = FileNamed("other");
  const struct Range* last = NULL;
  uint64_t total = 0;
  int signal_number = 0;
  for (;;) {
    int status;
    if (ptrace(PTRACE_SINGLESTEP, thread, 0, signal_number) != 0) return -1;
    if (waitpid(thread, &status, __WALL) < 0 || !WIFSTOPPED(status)) return status;
    signal_number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    if (signal_number != 0) continue;
    const uint64_t address = InstructionPointer(thread);
    if (address == mark) break;
    ++total;
    if (last == NULL || address < last->begin || address >= last->end) last = RangeOf(address);
    ++counts[last == NULL ? other : last->file];
  }
  Write(output, total);
  return 0;
}

static int Follow(pid_t child, FILE* output) {
  int signal_number = 0;
  for (;;) {
    int status;
    if (ptrace(PTRACE_CONT, child, 0, signal_number) != 0 && errno != ESRCH) return 1;
    if (waitpid(child, &status, __WALL) < 0) return 1;
    signal_number = 0;
    siginfo_t information;
    if (WIFSTOPPED(status)) {
      signal_number = WSTOPSIG(status);
      if (signal_number != SIGTRAP) continue;
      signal_number = 0;
      if (ptrace(PTRACE_GETSIGINFO, child, 0, &information) != 0 ||
          information.si_code != SI_KERNEL) {
        continue;  // of exec
      }
      status = Step(child, InstructionPointer(child), output);
      if (status == 0) continue;
    }
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 1;
  }
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: step_launches COUNTS PROGRAM ARGUMENT…\n");
    return 2;
  }
  FILE* output = fopen(argv[1], "w");
  if (output == NULL) {
    perror(argv[1]);
    return 2;
  }
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    _exit(127);
  }
  int status;
  if (waitpid(child, &status, __WALL) < 0 || !WIFSTOPPED(status)) return 1;
  return Follow(child, output);
}

#endif
