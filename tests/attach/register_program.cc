// A system call made by hand, with every register and the red zone in use: what a compiler may do
// around inline assembly, and what a C library's wrapper never shows.
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/attach/target_control.h"
#include "tests/attach/target_programs.h"

namespace utlz::attach {

namespace {
constexpr int kDisturbed = 10;
}  // namespace

#if defined(__x86_64__)
namespace {

struct State {
  uint64_t general[12];  // rbx rbp r8 r9 r10 r12 r13 r14 r15 rdi rsi rdx
  uint64_t red_zone[16];
  alignas(32) uint8_t vectors[16][32];
};

// poll(nullptr, 0, 20 ms) with `in` in all registers that the kernel leaves alone, and in the red
// zone; `out` gets what is there afterwards.
[[gnu::naked]] int64_t PollWithRegisters(const State* /*in: rdi*/, State* /*out: rsi*/) {
  asm volatile(R"(
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    push %rsi
    mov %rdi, %rax
    mov 0(%rax), %rbx
    mov 8(%rax), %rbp
    mov 16(%rax), %r8
    mov 24(%rax), %r9
    mov 32(%rax), %r10
    mov 40(%rax), %r12
    mov 48(%rax), %r13
    mov 56(%rax), %r14
    mov 64(%rax), %r15
    .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    mov 96+8*\n(%rax), %rcx
    mov %rcx, -128+8*\n(%rsp)
    vmovups 224+32*\n(%rax), %ymm\n
    .endr
    xor %edi, %edi
    xor %esi, %esi
    mov $20, %edx
    mov $7, %eax
    syscall
    push %rax
    mov 8(%rsp), %rax
    mov %rbx, 0(%rax)
    mov %rbp, 8(%rax)
    mov %r8, 16(%rax)
    mov %r9, 24(%rax)
    mov %r10, 32(%rax)
    mov %r12, 40(%rax)
    mov %r13, 48(%rax)
    mov %r14, 56(%rax)
    mov %r15, 64(%rax)
    mov %rdi, 72(%rax)
    mov %rsi, 80(%rax)
    mov %rdx, 88(%rax)
    .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14
    mov -120+8*\n(%rsp), %rcx
    mov %rcx, 96+8*\n(%rax)
    .endr
    .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    vmovups %ymm\n, 224+32*\n(%rax)
    .endr
    vzeroupper
    pop %rax
    pop %rsi
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret
  )");
}

static_assert(offsetof(State, vectors) == 224);

// Without AVX the program would end with SIGILL.
bool CanBeMade() { return __builtin_cpu_supports("avx"); }

void SetArguments(State* in) {
  in->general[9] = 0;
  in->general[10] = 0;
  in->general[11] = 20;
  // The word next to the return path is overwritten by the push that saves the result.
  in->red_zone[15] = 0;
}

}  // namespace
#elif defined(__aarch64__)
namespace {

struct State {
  uint64_t general[26];  // x5 to x7, x9 to x30, and a word that fills up
  uint8_t vectors[32][16];
};

// ppoll(nullptr, 0, 20 ms) with `in` in all registers that the kernel leaves alone; `out` gets what
// is there afterwards. There is no red zone here.
extern "C" int64_t PollWithRegisters(const State* in, State* out);
asm(R"(
    .text
    .type PollWithRegisters, %function
PollWithRegisters:
    stp x29, x30, [sp, #-192]!
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    str x1, [sp, #160]
    mov x2, #11520
    movk x2, #305, lsl #16
    stp xzr, x2, [sp, #176]
    add x2, x0, #208
    .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    ldr q\n, [x2, #16*\n]
    .endr
    ldp x5, x6, [x0]
    ldr x7, [x0, #16]
    .irp n,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
    ldr x\n, [x0, #24+8*(\n-9)]
    .endr
    mov x0, #0
    mov x1, #0
    add x2, sp, #176
    mov x3, #0
    mov x4, #0
    mov x8, #73
    svc #0
    ldr x1, [sp, #160]
    stp x5, x6, [x1]
    str x7, [x1, #16]
    .irp n,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
    str x\n, [x1, #24+8*(\n-9)]
    .endr
    add x2, x1, #208
    .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    str q\n, [x2, #16*\n]
    .endr
    ldp x19, x20, [sp, #16]
    ldp x21, x22, [sp, #32]
    ldp x23, x24, [sp, #48]
    ldp x25, x26, [sp, #64]
    ldp x27, x28, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    ldp x29, x30, [sp], #192
    ret
    .size PollWithRegisters, .-PollWithRegisters
)");

static_assert(offsetof(State, vectors) == 208);

bool CanBeMade() { return true; }

void SetArguments(State* in) { in->general[25] = 0; }

}  // namespace
#endif

int LiveRegisters() {
  // The test knows this exit status.
  if (!CanBeMade()) return 77;
  State in;
  for (size_t i = 0; i < sizeof(in); ++i) {
    reinterpret_cast<uint8_t*>(&in)[i] = static_cast<uint8_t>(i * 37 + 11);
  }
  SetArguments(&in);
  Ready();
  while (MayGoOn()) {
    State out = {};
    const int64_t result = PollWithRegisters(&in, &out);
    const bool is_allowed = result == -EINTR && Control().allow_interrupt != 0;
    if (result != 0 && !is_allowed) return kDisturbed;
    if (std::memcmp(&in, &out, sizeof(in)) != 0) return kDisturbed + 1;
    Progress();
  }
  return 0;
}

}  // namespace utlz::attach
