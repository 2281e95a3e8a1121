// The script that a Python is asked to run: it fetches the library from the tool and loads it.
#ifndef UTLZ_TOOLS_ATTACH_PYTHON_SCRIPT_H_
#define UTLZ_TOOLS_ATTACH_PYTHON_SCRIPT_H_

#include <cstddef>
#include <string>

namespace utlz::attach {

// The script connects twice: once to talk, and once for the library, which speaks there alone.
//   script  the number of the second socket in the process, in decimal digits
//   tool    one byte, with the library's memory file
//   script  kScriptLoaded, or why it could not be loaded (at most kMaxScriptAnswerBytes)
// Either side that hangs up before has ended it without a trace.
inline constexpr char kScriptLoaded[] = "loaded";
inline constexpr size_t kMaxScriptAnswerBytes = 512;

// The script does nothing, and says nothing, if there is no tool at the socket any more.
// `socket_path` holds letters, digits, '/' and '-' alone.
std::string PythonScript(const std::string& socket_path);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_PYTHON_SCRIPT_H_
