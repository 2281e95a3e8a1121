// Before glibc 2.34 a program brought the function that runs its constructors. Today's start files
// leave that to the C library, so a program for both gives it one again; a new library calls it
// too.
typedef void (*Constructor)(int, char**, char**);

extern Constructor __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void);

static void RunConstructors(int argc, char** argv, char** environment) {
  _init();
  for (Constructor* constructor = __init_array_start; constructor < __init_array_end;
       ++constructor) {
    (*constructor)(argc, argv, environment);
  }
}

typedef int (*Main)(int, char**, char**);

int __real___libc_start_main(Main main, int argc, char** argv, Constructor run_constructors,
                             void (*run_destructors)(void), void (*loader_end)(void),
                             void* stack_end);

__attribute__((visibility("hidden"))) int __wrap___libc_start_main(Main main, int argc, char** argv,
                                                                   Constructor run_constructors,
                                                                   void (*run_destructors)(void),
                                                                   void (*loader_end)(void),
                                                                   void* stack_end) {
  (void)run_constructors;
  return __real___libc_start_main(main, argc, argv, RunConstructors, run_destructors, loader_end,
                                  stack_end);
}
