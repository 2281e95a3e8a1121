// Says before a name is demangled whether that is little work. GCC's demangler walks what a name's
// parts refer to again and again, and some of its walks print nothing, so that a limit of its
// output does not stop it: of 300 well chosen bytes it never comes back.
#ifndef UTLZ_COLLECTOR_KERNEL_NAMES_DEMANGLING_WORK_H_
#define UTLZ_COLLECTOR_KERNEL_NAMES_DEMANGLING_WORK_H_

#include <string_view>

namespace utlz {

// False where the walks that print nothing might take more than some 100,000 steps. Looks for the
// parts that such walks need without parsing the name, so that a name with unusually many of them
// may be refused without need. Linear in the length of the name.
bool DemanglingIsBounded(std::string_view mangled_name);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_NAMES_DEMANGLING_WORK_H_
