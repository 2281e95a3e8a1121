#include "bench/diagnosis/kernel_variant.h"

namespace utlz {

void AddVariant(const RecordedKernel& kernel, uint32_t name, const GraphPlace& place,
                Variants* variants) {
  variants->add_name(name);
  variants->add_grid_x(kernel.grid[0]);
  variants->add_grid_y(kernel.grid[1]);
  variants->add_grid_z(kernel.grid[2]);
  variants->add_block_x(kernel.block[0]);
  variants->add_block_y(kernel.block[1]);
  variants->add_block_z(kernel.block[2]);
  variants->add_registers_per_thread(kernel.registers);
  variants->add_dynamic_shared_bytes(kernel.shared_bytes);
  variants->add_graph_node(place.node);
  variants->add_graph(place.graph);
}

}  // namespace utlz
