// No new descriptors for as long as a test wants none.
#ifndef UTLZ_TESTS_SUPPORT_DESCRIPTOR_LIMIT_H_
#define UTLZ_TESTS_SUPPORT_DESCRIPTOR_LIMIT_H_

#include <sys/resource.h>

namespace utlz {

class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit = {most, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_DESCRIPTOR_LIMIT_H_
