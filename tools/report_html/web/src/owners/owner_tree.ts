// Layers, lines and operations as a tree whose parts have widths.
import type { Owner, Summary } from "../summary";

export type OwnerListName = "layers" | "repeated_layers" | "lines" | "operations";
export type Weight = "time" | "forward" | "backward" | "recomputation" | "flops" | "bytes" | "savings" | "idle";

export interface OwnerNode {
  key: string;           // unique within the page
  label: string;
  owner: Owner;          // figures, those of the parts inside included
  rows: number[];        // of the list, whose work with what is inside them is this
  weight: number;
  children: OwnerNode[];
  parent?: OwnerNode;
}

export const LISTS: { list: OwnerListName; label: string; one: string }[] = [
  { list: "layers", label: "layers", one: "layer" },
  { list: "repeated_layers", label: "repeated layers, summed", one: "layers" },
  { list: "lines", label: "lines, by file", one: "line" },
  { list: "operations", label: "operations", one: "operation" },
];

// Of a layer or a part of one, what is in neither of the two other passes. Lines launch optimizers
// and losses too, which are in no pass.
export function forwardTime(owner: Owner): number | undefined {
  if (owner.model === undefined) return undefined;
  return (owner.time_ns ?? 0) - (owner.backward_time_ns ?? 0) - (owner.recomputation_time_ns ?? 0);
}

export const hasPasses = (owner: Owner) =>
  owner.backward_time_ns !== undefined || owner.recomputation_time_ns !== undefined;

const VALUES: Record<Weight, (owner: Owner) => number | undefined> = {
  time: (owner) => owner.time_ns,
  forward: forwardTime,
  backward: (owner) => owner.backward_time_ns,
  recomputation: (owner) => owner.recomputation_time_ns,
  flops: (owner) => owner.flops,
  bytes: (owner) => owner.dram_bytes,
  savings: (owner) => owner.estimated_savings_ns,
  idle: (owner) => owner.idle_before_ns,
};

export const WEIGHTS: { weight: Weight; label: string }[] = [
  { weight: "time", label: "time" },
  { weight: "forward", label: "time forward" },
  { weight: "backward", label: "time backward" },
  { weight: "recomputation", label: "time recomputed" },
  { weight: "flops", label: "FLOPs" },
  { weight: "bytes", label: "DRAM bytes" },
  { weight: "savings", label: "estimated savings" },
  { weight: "idle", label: "idle time before" },
];

export function rowsOf(summary: Summary, list: OwnerListName): Owner[] {
  return summary.owners?.[list] ?? [];
}

export function weightsOf(rows: Owner[]): typeof WEIGHTS {
  return WEIGHTS.filter(({ weight }) => rows.some((row) => (VALUES[weight](row) ?? 0) > 0) &&
    (weight !== "forward" || rows.some(hasPasses)));
}

// The end of a path that tells it from its neighbours: "mlp", "blocks.0", "blocks.*".
function endOfPath(name: string): string {
  const parts = name.split(".");
  const last = parts[parts.length - 1];
  return /^(\d+|\*)$/.test(last) ? parts.slice(-2).join(".") : last;
}

const isPart = (row: Owner) => row.kind === "repeated_part" || row.kind === "part";

// Within a part of a layer, the operation: "2 addmm" of "(part) 2 addmm".
const operationOf = (name: string) => name.replace(/^\([^)]*\) /, "");

// A backward pass has a few launches that are, everywhere.
const isMostlyInferred = (row: Owner) => (row.inferred_time_ns ?? 0) > (row.time_ns ?? 0) / 2;

function labelOf(row: Owner, list: OwnerListName, around?: Owner): string {
  const name = row.name ?? "";
  if (list === "operations") return row.origin === "family" ? `(${name})` : name;
  if (list === "lines") return name;
  // Parts of graphs are in no layer.
  const isInPart = around !== undefined && isPart(around) && around.parent !== undefined;
  const times = (row.instances ?? 1) > 1 && !isInPart ? ` ×${row.instances}` : "";
  const inferred = isMostlyInferred(row) ? " (inferred)" : "";
  const end = isInPart ? operationOf(name)
    : around === undefined || isPart(row) ? name : endOfPath(name);
  return end + times + inferred;
}

const SUMS = [
  "time_ns", "own_time_ns", "time_share", "launches", "own_launches", "idle_before_ns", "flops",
  "dram_bytes", "estimated_savings_ns", "time_without_counters_ns", "backward_time_ns",
  "recomputation_time_ns", "inferred_time_ns",
] as const;

// What several have together. Their errors are not independent, so that none is given.
function sumOf(name: string, owners: Owner[]): Owner {
  const sum: Owner = { name };
  for (const field of SUMS) {
    const values = owners.map((owner) => owner[field]).filter((value) => value !== undefined);
    if (values.length > 0) sum[field] = values.reduce((all, value) => all + value, 0);
  }
  return sum;
}

function makeGroup(key: string, label: string, children: OwnerNode[]): OwnerNode {
  const node: OwnerNode = {
    key, label, children, owner: sumOf(label, children.map((child) => child.owner)),
    rows: children.flatMap((child) => child.rows),
    weight: children.reduce((sum, child) => sum + child.weight, 0),
  };
  for (const child of children) child.parent = node;
  return node;
}

const fileOf = (row: Owner) => row.file ?? (row.kind === "line" ? (row.name ?? "").split(":")[0] : "");

// Files in the order of their first line.
function byFile(nodes: OwnerNode[]): OwnerNode[] {
  const files = new Map<string, OwnerNode[]>();
  for (const node of nodes) {
    const file = fileOf(node.owner);
    const lines = files.get(file);
    if (lines) lines.push(node);
    else files.set(file, [node]);
  }
  return [...files].flatMap(([file, lines]) => file === "" ? lines
    : [makeGroup(`lines/${file}`, file.split("/").pop() || file, lines)]);
}

export function makeTree(rows: Owner[], list: OwnerListName, weight: Weight): OwnerNode {
  const nodes = rows.map((owner, index): OwnerNode => ({
    key: `${list}/${index}`, label: labelOf(owner, list, rows[owner.parent ?? -1]), owner,
    rows: [index], children: [],
    weight: Math.max(0, VALUES[weight](owner) ?? 0),
  }));
  const tops: OwnerNode[] = [];
  nodes.forEach((node, index) => {
    const { parent } = node.owner;
    // Parents stand before their children.
    if (parent === undefined || parent < 0 || parent >= index) {
      tops.push(node);
    } else {
      node.parent = nodes[parent];
      nodes[parent].children.push(node);
    }
  });
  const root = makeGroup(`${list}/all`, "all kernels", list === "lines" ? byFile(tops) : tops);
  delete root.owner.own_time_ns;  // all of it is in a part
  return root;
}

export function findNode(root: OwnerNode, key: string | undefined): OwnerNode | undefined {
  if (root.key === key) return root;
  for (const child of root.children) {
    const found = findNode(child, key);
    if (found) return found;
  }
  return undefined;
}

export interface Box { node: OwnerNode; depth: number; left: number; width: number }

// Where each part lies, in pixels: those around `zoomed` and it itself over the whole width, what
// is inside below them. Parts narrower than a pixel are left out, with what is inside.
export function layOut(zoomed: OwnerNode, width: number): Box[] {
  const around: OwnerNode[] = [];
  for (let node = zoomed.parent; node; node = node.parent) around.unshift(node);
  const boxes: Box[] = around.map((node, depth) => ({ node, depth, left: 0, width }));
  const add = (node: OwnerNode, depth: number, left: number, room: number) => {
    boxes.push({ node, depth, left, width: room });
    const inside = node.children.reduce((sum, child) => sum + child.weight, 0);
    const whole = Math.max(node.weight, inside);
    let at = left;
    for (const child of whole > 0 ? node.children : []) {
      const part = room * child.weight / whole;
      if (part >= 1) add(child, depth + 1, at, part);
      at += part;
    }
  };
  add(zoomed, around.length, 0, width);
  return boxes;
}
