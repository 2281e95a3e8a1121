import * as format from "./format";
import { ticks, type Ceiling, type Scales } from "./roofline_scale";

interface Box { scales: Scales; width: number; height: number }

export function Axes({ scales, width, height }: Box) {
  return (
    <g class="axes" aria-hidden="true">
      {ticks(scales.x, width / 60).map((value) => (
        <g transform={`translate(${scales.x(value)},0)`}>
          <line y2={height} /><text y={height + 16} text-anchor="middle">{format.axisNumber(value)}</text>
        </g>
      ))}
      {ticks(scales.y, height / 40).map((value) => (
        <g transform={`translate(0,${scales.y(value)})`}>
          <line x2={width} />
          <text x={-8} dy="0.32em" text-anchor="end">{format.axisNumber(value)}</text>
        </g>
      ))}
      <text class="title" x={width / 2} y={height + 36} text-anchor="middle">
        arithmetic intensity, FLOP per DRAM byte
      </text>
      <text class="title" transform={`translate(-50,${height / 2}) rotate(-90)`} text-anchor="middle">
        FLOP/s
      </text>
    </g>
  );
}

interface CeilingLine { ceiling: Ceiling; x1: number; y1: number; x2: number; y2: number }

function linesOf(ceilings: Ceiling[], { scales, width }: Box): CeilingLine[] {
  const [lowX, highX] = scales.x.domain();
  const [lowY] = scales.y.domain();
  const limits = ceilings.filter(({ kind, used }) => kind === "compute" && used);
  const highest = Math.max(...limits.map(({ limit }) => limit), 0);
  const hbm = ceilings.find(({ kind, label, style }) =>
    kind === "memory" && style === "peak" && label.startsWith("HBM"))?.limit;
  return ceilings.map((ceiling) => {
    if (ceiling.kind === "memory") {
      const start = Math.max(lowX, lowY / ceiling.limit);
      const end = Math.min(highX, (highest || scales.y.domain()[1]) / ceiling.limit);
      return { ceiling, x1: scales.x(start), y1: scales.y(start * ceiling.limit),
        x2: scales.x(end), y2: scales.y(end * ceiling.limit) };
    }
    const ridge = hbm ? Math.max(lowX, ceiling.limit / hbm) : lowX;
    const y = scales.y(ceiling.limit);
    return { ceiling, x1: scales.x(Math.min(ridge, highX)), y1: y, x2: width, y2: y };
  });
}

const WORDS = { peak: "", maximum: " at highest clock", attained: " measured" };

function labelOf({ kind, label, limit, style }: Ceiling): string {
  const value = kind === "memory" ? format.byteRate(limit) : format.flopRate(limit);
  return `${label} ${value}${WORDS[style]}`;
}

// Where a line's label stands: below the peak at the clock seen, whose line at the highest clock is
// above it.
function labelPlace({ ceiling, x1, y1, x2, y2 }: CeilingLine): { x: number; y: number; angle: number } {
  if (ceiling.kind === "compute") return { x: x2 - 4, y: y2 + 12, angle: 0 };
  const along = 0.45;
  return { x: x1 + (x2 - x1) * along, y: y1 + (y2 - y1) * along - 6,
    angle: Math.atan2(y2 - y1, x2 - x1) * 180 / Math.PI };
}

const NARROW = 480;

// Labels that would lie on another give way to it: the peaks at the clock seen come first. On a
// phone those that no kernel uses have no room.
function labelled(all: CeilingLine[], width: number): Set<CeilingLine> {
  const lines = all.filter(({ ceiling }) => ceiling.used || width >= NARROW);
  const kept: CeilingLine[] = [];
  const rank = (line: CeilingLine) => (line.ceiling.used ? 0 : 3) +
    ["peak", "attained", "maximum"].indexOf(line.ceiling.style);
  for (const line of [...lines].sort((a, b) => rank(a) - rank(b))) {
    const clear = kept.every((other) => other.ceiling.kind !== line.ceiling.kind ||
      Math.abs(labelPlace(other).y - labelPlace(line).y) >= 13);
    if (clear && line.y2 >= 0) kept.push(line);
  }
  return new Set(kept);
}

function classOf({ style, used }: Ceiling): string {
  return used ? style : `${style} unused`;
}

function drawnLines({ ceilings, ...box }: Box & { ceilings: Ceiling[] }): CeilingLine[] {
  return linesOf(ceilings, box).filter(({ x1, x2, y2 }) => x2 > x1 && y2 < box.height);
}

export function Ceilings(props: Box & { ceilings: Ceiling[] }) {
  return (
    <g class="ceilings">
      {drawnLines(props).map(({ ceiling, x1, y1, x2, y2 }) => (
        <line class={classOf(ceiling)} x1={x1} y1={y1} x2={x2} y2={y2}>
          <title>{labelOf(ceiling)}</title>
        </line>
      ))}
    </g>
  );
}

// Apart from their lines, since they stand over the bubbles.
export function CeilingLabels(props: Box & { ceilings: Ceiling[] }) {
  const lines = drawnLines(props);
  const withLabel = labelled(lines, props.width);
  return (
    <g class="ceilings" aria-hidden="true">
      {lines.filter((line) => withLabel.has(line)).map((line) => {
        const { x, y, angle } = labelPlace(line);
        return (
          <text class={classOf(line.ceiling)} transform={`translate(${x},${y}) rotate(${angle})`}
            text-anchor={line.ceiling.kind === "memory" ? "middle" : "end"}>
            {labelOf(line.ceiling)}
          </text>
        );
      })}
    </g>
  );
}
