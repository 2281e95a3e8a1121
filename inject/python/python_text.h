// Texts of the interpreter, copied page by page. Never on a launch path.
#ifndef UTLZ_INJECT_PYTHON_PYTHON_TEXT_H_
#define UTLZ_INJECT_PYTHON_PYTHON_TEXT_H_

#include <cstdint>

#include "inject/python/memory_pages.h"
#include "inject/python/python_layout.h"

namespace utlz::agent {

// The characters of a str in UTF-8, with a zero byte at the end; of what is longer than `out` the
// begin, or with `keep_end` the end. False where it is none whose characters follow its head.
bool CopyText(const PythonLayout& layout, MemoryPages* memory, uint64_t text, bool keep_end,
              char* out, uint32_t capacity);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_PYTHON_TEXT_H_
