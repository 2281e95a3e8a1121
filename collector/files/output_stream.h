// A stream into a file that is open already.
#ifndef UTLZ_COLLECTOR_FILES_OUTPUT_STREAM_H_
#define UTLZ_COLLECTOR_FILES_OUTPUT_STREAM_H_

#include <ostream>
#include <streambuf>
#include <vector>

namespace utlz {

// Fails as any stream does; errno is then the kernel's. The file stays open.
class OutputStream : public std::ostream {
 public:
  explicit OutputStream(int fd) : std::ostream(&buffer_), buffer_(fd) {}
  ~OutputStream() override { flush(); }

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(int fd);

   protected:
    int_type overflow(int_type byte) override;
    int sync() override;

   private:
    int fd_;
    std::vector<char> bytes_;
  };

  Buffer buffer_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_FILES_OUTPUT_STREAM_H_
