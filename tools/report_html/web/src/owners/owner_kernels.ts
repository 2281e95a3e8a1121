// Which kernels did the work of a layer, a line or an operation.
import type { Summary } from "../summary";
import { rowsOf, type OwnerListName } from "./owner_tree";

export interface OwnerChoice {
  list: OwnerListName;
  key: string;     // of the node
  name: string;
  rows: number[];  // with what is inside them
}

export interface OwnerKernels {
  time_ns: Map<number, number>;  // by kernel: of its launches from there
  left_out: number;              // kernels that the report does not name
}

// Undefined where the report does not say.
export function kernelsOfOwner(summary: Summary, choice: OwnerChoice): OwnerKernels | undefined {
  const rows = rowsOf(summary, choice.list);
  if (!rows.some((row) => (row.own_kernel_ids ?? []).length > 0)) return undefined;
  const inside = new Set(choice.rows);
  const found: OwnerKernels = { time_ns: new Map(), left_out: 0 };
  rows.forEach((row, index) => {
    if (row.parent !== undefined && row.parent < index && inside.has(row.parent)) inside.add(index);
    if (!inside.has(index)) return;
    found.left_out += row.own_kernels_left_out ?? 0;
    (row.own_kernel_ids ?? []).forEach((id, at) => {
      found.time_ns.set(id, (found.time_ns.get(id) ?? 0) + (row.own_kernel_time_ns?.[at] ?? 0));
    });
  });
  return found;
}
