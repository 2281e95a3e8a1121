// What limits a kernel: its name, its colour (told apart by people who see colours differently) and
// what it means.
import type { Bound } from "./summary";

export interface BoundStyle { bound: Bound; label: string; color: string; meaning: string }

export const BOUNDS: BoundStyle[] = [
  { bound: "compute", label: "compute", color: "var(--bound-compute)",
    meaning: "close to the arithmetic peak of its data types" },
  { bound: "memory", label: "memory", color: "var(--bound-memory)",
    meaning: "close to the bandwidth of HBM" },
  { bound: "latency", label: "latency", color: "var(--bound-latency)",
    meaning: "too short or too small to fill the GPU" },
  { bound: "communication", label: "communication", color: "var(--bound-communication)",
    meaning: "waits for or moves data between GPUs" },
  { bound: "neither", label: "mixed", color: "var(--bound-neither)",
    meaning: "25 to 50 % of a roof" },
  { bound: "unknown", label: "unknown", color: "var(--bound-unknown)",
    meaning: "no counters for it" },
];

const BY_BOUND = new Map(BOUNDS.map((style) => [style.bound, style]));

export function boundStyle(bound: Bound | undefined): BoundStyle {
  return BY_BOUND.get(bound ?? "unknown") ?? BOUNDS[BOUNDS.length - 1];
}
