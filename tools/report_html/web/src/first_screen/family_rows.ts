// Families of kernels as rows of a table. Rates of a family that is mostly uncounted would be those
// of a few kernels: they are left out.
import type { Family, Summary } from "../summary";

const MOSTLY_UNCOUNTED = 0.5;
// Families with less of the kernels' time are summed up, and smaller shares without counters are
// not worth a figure.
const WORTH_A_ROW = 0.01;

export interface FamilyRow {
  family: string;
  time_ns?: number;            // a step, or in all where there are no steps
  share?: number;
  dram_bytes_per_second?: number;
  dram_peak_share?: number;
  above_roof_ns?: number;
  uncounted_share?: number;
  // Of the family with most time, 0…1: they sum to the row's own time.
  bar: { at_roof: number; above_roof: number; uncounted: number };
}

export function isPerStep(summary: Summary): boolean {
  return summary.steady_state?.scope === "steps";
}

function clamped(value: number): number {
  return Math.min(1, Math.max(0, value));
}

function uncountedShare(family: Family): number {
  if (!((family.time_ns ?? 0) > 0)) return 0;
  return clamped((family.time_without_counters_ns ?? 0) / (family.time_ns as number));
}

function barOf(time: number, above: number | undefined, uncounted: number, longest: number) {
  const whole = longest > 0 ? time / longest : 0;
  if (above === undefined) return { at_roof: 0, above_roof: 0, uncounted: whole };
  const aboveShare = time > 0 ? Math.min(clamped(above / time), 1 - uncounted) : 0;
  return { at_roof: whole * (1 - aboveShare - uncounted), above_roof: whole * aboveShare,
    uncounted: whole * uncounted };
}

function rowOf(family: Family, perStep: boolean, longest: number): FamilyRow {
  const uncounted = uncountedShare(family);
  const counted = uncounted < MOSTLY_UNCOUNTED;
  const time = perStep ? family.time_per_step_ns : family.time_ns;
  const above = !counted ? undefined
    : perStep ? family.estimated_savings_per_step_ns : family.estimated_savings_ns;
  const possible = counted && (family.dram_bytes_per_second ?? 0) > 0 &&
    (family.dram_peak_share ?? 0) <= 1;
  return {
    family: family.family ?? "other", time_ns: time, share: family.time_share,
    dram_bytes_per_second: possible ? family.dram_bytes_per_second : undefined,
    dram_peak_share: possible ? family.dram_peak_share : undefined,
    above_roof_ns: above,
    uncounted_share: uncounted >= WORTH_A_ROW ? uncounted : undefined,
    bar: barOf(time ?? 0, above, uncounted, longest),
  };
}

export interface FamilyTable {
  rows: FamilyRow[];
  some_uncounted: boolean;  // so that a column for it is worth its place
  small: string[];
  small_time_ns: number;
}

export function familyTable(summary: Summary): FamilyTable {
  const perStep = isPerStep(summary);
  const timeOf = (family: Family) => (perStep ? family.time_per_step_ns : family.time_ns) ?? 0;
  const longest = Math.max(0, ...summary.families.map(timeOf));
  const isLarge = (family: Family) => (family.time_share ?? 0) >= WORTH_A_ROW;
  const small = summary.families.filter((family) => !isLarge(family));
  return {
    some_uncounted: summary.families.some((family) =>
      isLarge(family) && uncountedShare(family) >= WORTH_A_ROW),
    rows: summary.families.filter(isLarge).map((family) => rowOf(family, perStep, longest)),
    small: small.map((family) => family.family ?? "other"),
    small_time_ns: small.reduce((sum, family) => sum + timeOf(family), 0),
  };
}
