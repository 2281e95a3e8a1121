// Ends with 0 if it trusts the file that it is given: a program, so that it can have raised
// privileges.
#include "collector/sampler/driver/library_search.h"

// A set-user-ID copy of it cannot be searched for leaks: AddressSanitizer, where there is one,
// asks.
extern "C" const char* __lsan_default_options() { return "detect_leaks=0"; }

int main(int argc, char** argv) { return argc == 2 && utlz::IsTrustedFile(argv[1]) ? 0 : 1; }
