// How the run's time passed: parts of it between moments that records show, in order.
import * as format from "../format";
import type { Phase } from "../summary";

export interface PhaseRow {
  name: string;
  label: string;     // "warm-up (64 steps)"
  meaning?: string;
  time_ns: number;
  part: number;      // of all, 0…1
}

const LABELS: Record<string, [label: string, meaning: string]> = {
  start: ["start", "from the command's start to its first call of CUDA; imports are among it"],
  loading: ["loading", "from the first call of CUDA to the first kernel"],
  setup: ["set-up", "from the first kernel to the first step"],
  warmup: ["warm-up", "steps that were slow"],
  steps: ["steps", "what all figures are of"],
  work: ["work", "from the first kernel to the last record"],
  untraced: ["not traced", "after the last traced step: more steps, or what follows them"],
  end: ["end", "after the last step"],
};

function labelOf(phase: Phase): string {
  const label = LABELS[phase.name ?? ""]?.[0] ?? phase.name ?? "";
  return phase.name === "warmup" && (phase.steps ?? 0) > 0
    ? `${label} (${format.counted(phase.steps as number, "step", "steps")})` : label;
}

// Nothing where the run is not divided.
export function phaseRows(phases: Phase[]): PhaseRow[] {
  const known = phases.filter((phase) => (phase.time_ns ?? 0) > 0);
  const whole = known.reduce((sum, phase) => sum + (phase.time_ns as number), 0);
  if (known.length < 2) return [];
  return known.map((phase) => ({
    name: phase.name ?? "", label: labelOf(phase), meaning: LABELS[phase.name ?? ""]?.[1],
    time_ns: phase.time_ns as number, part: (phase.time_ns as number) / whole,
  }));
}
