// Uses of CUPTI that harm a real program end the process loudly here, so that no test can pass by
// luck.
#ifndef UTLZ_TESTS_FAKES_MISUSE_H_
#define UTLZ_TESTS_FAKES_MISUSE_H_

namespace utlz::fake {

[[noreturn]] void Misuse(const char* what);

// Marks this thread as being inside a callback of the tool's.
enum class CallbackSort { kNone, kBuffer, kResource, kSynchronize, kApi };
class CallbackScope {
 public:
  explicit CallbackScope(CallbackSort sort);
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  static CallbackSort Current();

 private:
  CallbackSort previous_;
};

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_MISUSE_H_
