// A shared object in memory, as small as one can be.
#ifndef UTLZ_TESTS_UNIT_ATTACH_TINY_OBJECT_H_
#define UTLZ_TESTS_UNIT_ATTACH_TINY_OBJECT_H_

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace utlz::attach {

// A shared object with one function, written out field by field so that each can be spoiled.
struct TinyObject {
  Elf64_Ehdr header = {};
  Elf64_Phdr segment = {};
  Elf64_Dyn dynamic[5] = {};
  Elf64_Sym symbols[2] = {};
  uint32_t hash[4] = {};  // bucket count, chain count, bucket, chain
  char strings[32] = {};
};

// As the loader leaves it at this address; its highest version is GLIBC_2.34.
inline TinyObject MakeTinyObject(uint64_t base) {
  TinyObject object;
  std::memcpy(object.header.e_ident, ELFMAG, SELFMAG);
  object.header.e_ident[EI_CLASS] = ELFCLASS64;
  object.header.e_phoff = offsetof(TinyObject, segment);
  object.header.e_phentsize = sizeof(Elf64_Phdr);
  object.header.e_phnum = 1;
  object.segment.p_type = PT_DYNAMIC;
  object.segment.p_vaddr = offsetof(TinyObject, dynamic);
  object.dynamic[0] = {DT_SYMTAB, {base + offsetof(TinyObject, symbols)}};
  object.dynamic[1] = {DT_STRTAB, {offsetof(TinyObject, strings)}};  // not relocated
  object.dynamic[2] = {DT_STRSZ, {sizeof(object.strings)}};
  object.dynamic[3] = {DT_HASH, {base + offsetof(TinyObject, hash)}};
  object.hash[1] = 2;
  object.symbols[1].st_name = 1;
  object.symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  object.symbols[1].st_shndx = 3;
  object.symbols[1].st_value = 0x400;
  object.symbols[1].st_size = 16;
  std::memcpy(object.strings, "\0dlopen\0GLIBC_2.9\0GLIBC_2.34", 29);
  return object;
}

}  // namespace utlz::attach

#endif  // UTLZ_TESTS_UNIT_ATTACH_TINY_OBJECT_H_
