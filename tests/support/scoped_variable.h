// A variable of the environment that has another value for as long as this lives.
#ifndef UTLZ_TESTS_SUPPORT_SCOPED_VARIABLE_H_
#define UTLZ_TESTS_SUPPORT_SCOPED_VARIABLE_H_

#include <stdlib.h>

#include <optional>
#include <string>

namespace utlz {

class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_SCOPED_VARIABLE_H_
