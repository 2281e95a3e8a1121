// Numbers as people read them. An unknown number is a dash, never zero.

const UNKNOWN = "–";
// Between a number and its unit, so that they stay on one line.
const GAP = "\u00a0";

function known(value: number | null | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

const MOST_DECIMALS = 9;

// What three digits round up to one, and so to the next unit: 999.7 ms is 1.00 s.
const ALMOST_ONE = 0.9995;

function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(size >= 100 * ALMOST_ONE ? 0 : size >= 10 * ALMOST_ONE ? 1 : 2);
}

const PREFIXES: [number, string][] = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

export function withPrefix(value: number | null | undefined, unit: string): string {
  if (!known(value)) return UNKNOWN;
  const found = PREFIXES.find(([factor]) => Math.abs(value) >= ALMOST_ONE * factor);
  const [factor, prefix] = found ?? [1, ""];
  return `${digits(value / factor)}${GAP}${prefix}${unit}`.trim();
}

export function time(ns: number | null | undefined): string {
  if (!known(ns)) return UNKNOWN;
  const size = Math.abs(ns);
  if (size >= ALMOST_ONE * 1e9) return `${digits(ns / 1e9)}${GAP}s`;
  if (size >= ALMOST_ONE * 1e6) return `${digits(ns / 1e6)}${GAP}ms`;
  if (size >= ALMOST_ONE * 1e3) return `${digits(ns / 1e3)}${GAP}µs`;
  return `${digits(ns)}${GAP}ns`;
}

export function share(value: number | null | undefined): string {
  if (!known(value)) return UNKNOWN;
  const percent = value * 100;
  return `${percent.toFixed(Math.abs(percent) < 9.95 ? 1 : 0)}${GAP}%`;
}

// The same, of two digits where it would show as none.
export function preciseShare(value: number | null | undefined): string {
  if (!known(value) || value === 0 || Math.abs(value) >= 0.001) return share(value);
  const percent = value * 100;
  const decimals = 1 - Math.floor(Math.log10(Math.abs(percent)));
  return `${percent.toFixed(Math.min(decimals, MOST_DECIMALS))}${GAP}%`;
}

// Too small for a digit of `share` is not the same as none.
export function shareError(value: number): string {
  return value < 0.0005 ? `<0.1${GAP}%` : share(value);
}

export function count(value: number | null | undefined): string {
  return known(value) ? Math.round(value).toLocaleString("en-US") : UNKNOWN;
}

export function plain(value: number | null | undefined): string {
  return known(value) ? digits(value) : UNKNOWN;
}

// A count that may be a mean: whole if it is, else with the digits that tell it from the next.
export function countOrMean(value: number): string {
  return Math.abs(value - Math.round(value)) < 1e-6 ? count(value) : digits(value);
}

// Of money: three digits, however small.
export function price(value: number | null | undefined): string {
  if (!known(value)) return UNKNOWN;
  return value === 0 || Math.abs(value) >= 0.1 ? digits(value) : String(Number(value.toPrecision(3)));
}

export const flops = (value?: number | null) => withPrefix(value, "FLOP");
export const flopRate = (value?: number | null) => withPrefix(value, "FLOP/s");
export const bytes = (value?: number | null) =>
  known(value) && Math.abs(value) < 1000 && Number.isInteger(value)
    ? `${value}${GAP}B` : withPrefix(value, "B");
export const byteRate = (value?: number | null) => withPrefix(value, "B/s");

export function signed(value: number | null | undefined, text: (size: number) => string): string {
  if (!known(value)) return UNKNOWN;
  return (value < 0 ? "−" : "+") + text(Math.abs(value));
}

// The 95 % interval of a figure whose standard error is `error`. `assumed`: the part of the error
// that rests on assumptions; both parts add in squares.
export function plusMinus(error: number | null | undefined, text: (size: number) => string,
  assumed?: number): string {
  if (!known(error) || error <= 0) return "";
  return ` ± ${text(NORMAL_95 * error)}` +
    (known(assumed) ? `, of it assumed ${text(NORMAL_95 * assumed)}` : "");
}

// A rate or share that its error does not tell from zero is shown as what it is less than; one of
// kernels that could not be told apart is marked, too.
export const NORMAL_95 = 1.959964;

export function measured(value: number | null | undefined, error: number | undefined, folded: boolean,
  text: (value?: number | null) => string): string {
  if (!known(value)) return UNKNOWN;
  const halfWidth = NORMAL_95 * (error ?? 0);
  const bounded = halfWidth > 0 && value <= halfWidth;
  return (folded ? "~" : "") + (bounded ? `<${text(value + halfWidth)}` : text(value));
}

export function counted(value: number, one: string, many: string): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

// The end of a name tells kernels apart as well as its beginning.
export function cutMiddle(text: string, letters: number): string {
  if (text.length <= letters) return text;
  const tail = Math.floor((letters - 1) / 3);
  return `${text.slice(0, letters - 1 - tail)}…${text.slice(text.length - tail)}`;
}

// A sentence whose numbers stay on the line of their units.
export function unbroken(text: string | undefined): string {
  return (text ?? "").replace(/(\d) (?=%|[nµm]?s\b|[kMGTPE]?(?:B|FLOP)\b|°C)/g, `$1${GAP}`);
}

export function dimensions(sizes: number[] | undefined): string {
  return sizes && sizes.length > 0 ? sizes.join("×") : UNKNOWN;
}

// Axis labels: no more digits than needed.
export function axisNumber(value: number): string {
  const found = PREFIXES.find(([factor]) => Math.abs(value) >= factor);
  const [factor, prefix] = found ?? [1, ""];
  return `${Number((value / factor).toPrecision(3))}${prefix ? " " + prefix : ""}`;
}

export function axisTime(ns: number): string {
  return ns === 0 ? "0" : time(ns);
}

export const SOURCES: Record<string, string> = {
  unknown: "unknown",
  time_only: "time only, no counters",
  formula: "from a formula",
  gpm: "device totals (GPM)",
  sampled: "sampled, attributed",
  calibrated: "sampled and calibrated",
  range: "counted exactly",
};

export function sourceText(source: string | undefined): string {
  return SOURCES[source ?? "unknown"] ?? source ?? "unknown";
}
