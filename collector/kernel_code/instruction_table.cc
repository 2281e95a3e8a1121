#include "collector/kernel_code/instruction_table.h"

#include <algorithm>
#include <iterator>

namespace utlz {
namespace {

struct Row {
  uint16_t operation;
  Operation known;
};

// Those with a pipe were compared with Nsight Compute's counters, those of kAny were not.
// docs/measurements/ordinary_kernels.md has the comparison. FLOPs are counted as Nsight Compute
// does: negating by FADD is one.
constexpr Row kRows[] = {
    {0x002, {Pipe::kAlu, 0, 0, 0}},        // MOV
    {0x003, {Pipe::kAlu, 0, 0, 0}},        // P2R
    {0x004, {Pipe::kAny, 0, 0, 2}},        // R2P
    {0x005, {Pipe::kAlu, 0, 0, 0}},        // CS2R
    {0x006, {Pipe::kAny, 0, 0, 2}},        // VOTE
    {0x007, {Pipe::kAlu, 0, 0, 0}},        // SEL
    {0x008, {Pipe::kAlu, 0, 0, 0}},        // FSEL
    {0x009, {Pipe::kAlu, 0, 0, 0}},        // FMNMX
    {0x00a, {Pipe::kAny, 0, 0, 2}},        // FSET
    {0x00b, {Pipe::kAlu, 0, 0, 2}},        // FSETP
    {0x00c, {Pipe::kAlu, 0, 0, 2}},        // ISETP
    {0x010, {Pipe::kAlu, 0, 0, 2}},        // IADD3
    {0x011, {Pipe::kAlu, 0, 0, 1}},        // LEA
    {0x012, {Pipe::kAlu, 0, 0, 1}},        // LOP3
    {0x013, {Pipe::kAny, 0, 0, 2}},        // IABS
    {0x016, {Pipe::kAlu, 0, 0, 0}},        // PRMT
    {0x017, {Pipe::kAny, 0, 0, 2}},        // IMNMX
    {0x019, {Pipe::kAlu, 0, 0, 0}},        // SHF
    {0x01c, {Pipe::kAlu, 0, 0, 2}},        // PLOP3
    {0x020, {Pipe::kFmaEither, 1, 0, 0}},  // FMUL
    {0x021, {Pipe::kFmaEither, 1, 0, 0}},  // FADD
    {0x023, {Pipe::kFmaEither, 2, 0, 0}},  // FFMA
    {0x024, {Pipe::kFma, 0, 0, 1}},        // IMAD
    {0x025, {Pipe::kFma, 0, 0, 1}},        // IMAD.WIDE
    {0x027, {Pipe::kFma, 0, 0, 1}},        // IMAD.HI
    {0x028, {Pipe::kAny, 0, 0, 2}},        // DMUL
    {0x029, {Pipe::kAny, 0, 0, 2}},        // DADD
    {0x02a, {Pipe::kAny, 0, 0, 2}},        // DSETP
    {0x02b, {Pipe::kAny, 0, 0, 2}},        // DFMA
    {0x030, {Pipe::kAny, 0, 2, 2}},        // HADD2
    {0x031, {Pipe::kAny, 0, 4, 2}},        // HFMA2
    {0x032, {Pipe::kAny, 0, 2, 2}},        // HMUL2
    {0x035, {Pipe::kOther, 0, 4, 0}},      // HFMA2.MMA
    {0x036, {Pipe::kFmaEither, 0, 0, 0}},  // VIADD
    {0x037, {Pipe::kAny, 0, 0, 2}},        // IMMA
    {0x03b, {Pipe::kAny, 0, 0, 2}},        // LDSM
    {0x03c, {Pipe::kAny, 0, 0, 2}},        // HMMA
    {0x03e, {Pipe::kAlu, 0, 0, 0}},        // F2FP
    {0x045, {Pipe::kAlu, 0, 0, 0}},        // I2FP
    {0x048, {Pipe::kAlu, 0, 0, 2}},        // VIMNMX
    {0x082, {Pipe::kOther, 0, 0, 0}},      // UMOV
    {0x086, {Pipe::kOther, 0, 0, 0}},      // VOTEU
    {0x08c, {Pipe::kOther, 0, 0, 0}},      // UISETP
    {0x090, {Pipe::kOther, 0, 0, 0}},      // UIADD3
    {0x091, {Pipe::kOther, 0, 0, 0}},      // ULEA
    {0x092, {Pipe::kOther, 0, 0, 0}},      // ULOP3
    {0x096, {Pipe::kOther, 0, 0, 0}},      // UPRMT
    {0x099, {Pipe::kOther, 0, 0, 0}},      // USHF
    {0x0a5, {Pipe::kOther, 0, 0, 0}},      // UIMAD.WIDE
    {0x0b9, {Pipe::kOther, 0, 0, 0}},      // ULDC
    {0x0bb, {Pipe::kOther, 0, 0, 0}},      // ULDC, indexed
    {0x0ca, {Pipe::kAlu, 0, 0, 1}},        // R2UR
    {0x100, {Pipe::kXu, 0, 0, 1}},         // FLO
    {0x101, {Pipe::kAny, 0, 0, 2}},        // BREV
    {0x102, {Pipe::kXu, 0, 0, 2}},         // FCHK
    {0x104, {Pipe::kXu, 0, 0, 0}},         // F2F
    {0x105, {Pipe::kXu, 0, 0, 0}},         // F2I
    {0x106, {Pipe::kXu, 0, 0, 0}},         // I2F
    {0x107, {Pipe::kXu, 0, 0, 0}},         // FRND
    {0x108, {Pipe::kXu, 0, 0, 0}},         // MUFU
    {0x109, {Pipe::kXu, 0, 0, 0}},         // POPC
    {0x110, {Pipe::kXu, 0, 0, 0}},         // F2F of 64 bits
    {0x111, {Pipe::kXu, 0, 0, 0}},         // F2I of 64 bits
    {0x112, {Pipe::kXu, 0, 0, 0}},         // I2F of 64 bits
    {0x113, {Pipe::kXu, 0, 0, 0}},         // FRND of 64 bits
    {0x118, {Pipe::kOther, 0, 0, 0}},      // NOP
    {0x119, {Pipe::kOther, 0, 0, 0}},      // S2R
    {0x11a, {Pipe::kAny, 0, 0, 2}},        // DEPBAR
    {0x11b, {Pipe::kOther, 0, 0, 0}},      // ENDCOLLECTIVE
    {0x11d, {Pipe::kOther, 0, 0, 2}},      // BAR
    {0x142, {Pipe::kOther, 0, 0, 0}},      // BREAK
    {0x14e, {Pipe::kOther, 0, 0, 0}},      // LEPC
    {0x155, {Pipe::kAny, 0, 0, 2}},        // BCLEAR
    {0x156, {Pipe::kAny, 0, 0, 2}},        // BMOV
    {0x157, {Pipe::kAny, 0, 0, 2}},        // BMOV
    {0x180, {Pipe::kAny, 0, 0, 2}},        // LD
    {0x181, {Pipe::kLsu, 0, 0, 1}},        // LDG
    {0x182, {Pipe::kOther, 0, 0, 0}},      // LDC
    {0x183, {Pipe::kAny, 0, 0, 2}},        // LDL
    {0x184, {Pipe::kLsu, 0, 0, 0}},        // LDS
    {0x185, {Pipe::kAny, 0, 0, 2}},        // ST
    {0x186, {Pipe::kLsu, 0, 0, 0}},        // STG
    {0x187, {Pipe::kAny, 0, 0, 2}},        // STL
    {0x188, {Pipe::kLsu, 0, 0, 0}},        // STS
    {0x189, {Pipe::kLsu, 0, 0, 1}},        // SHFL
    {0x18f, {Pipe::kOther, 0, 0, 0}},      // CCTL
    {0x192, {Pipe::kOther, 0, 0, 0}},      // MEMBAR
    {0x1a8, {Pipe::kLsu, 0, 0, 1}},        // ATOMG
    {0x1ab, {Pipe::kOther, 0, 0, 0}},      // ERRBAR
    {0x1ae, {Pipe::kAny, 0, 0, 2}},        // LDGSTS
    {0x1af, {Pipe::kAny, 0, 0, 2}},        // LDGDEPBAR
    {0x1c3, {Pipe::kOther, 0, 0, 0}},      // S2UR
};

constexpr bool Sorted() {
  for (size_t row = 1; row < std::size(kRows); ++row) {
    if (kRows[row - 1].operation >= kRows[row].operation) return false;
  }
  return true;
}
static_assert(Sorted());

}  // namespace

const Operation* FindOperation(uint32_t operation) {
  const Row* row =
      std::lower_bound(std::begin(kRows), std::end(kRows), operation,
                       [](const Row& one, uint32_t wanted) { return one.operation < wanted; });
  if (row == std::end(kRows) || row->operation != operation) return nullptr;
  return &row->known;
}

}  // namespace utlz
