import { boundStyle } from "./bounds";
import { PLOT_LEFT, PLOT_RIGHT } from "./chart";
import { useReport } from "./context";
import * as format from "./format";

const ROWS = 12;
const ROW_HEIGHT = 18;
const CELLS = 400;       // at most, so that a long run stays quick to draw
const NAME_LETTERS = 70;  // at most
const LETTER_WIDTH = 6.6;  // of most letters

interface Cell { start: number; end: number; busy: number }

function cellsOf(start: number, interval: number, busy: number[]): Cell[] {
  const stride = Math.max(1, Math.ceil(busy.length / CELLS));
  const cells = [];
  for (let at = 0; at < busy.length; at += stride) {
    const part = busy.slice(at, at + stride);
    const mean = part.reduce((sum, value) => sum + value, 0) / part.length;
    if (mean > 0.001) {
      cells.push({ start: start + at * interval, end: start + (at + part.length) * interval, busy: mean });
    }
  }
  return cells;
}

// The kernels with most time under the timeline: the fuller the colour, the more of the interval.
export function ActivityRows({ width, end }: { width: number; end: number }) {
  const { summary, kernels, selection, select } = useReport();
  const byId = new Map(kernels.map((kernel) => [kernel.id, kernel]));
  const rows = summary.kernel_activity.filter((activity) => byId.has(activity.kernel_id ?? -1))
    .slice(0, ROWS);
  if (rows.length === 0 || end <= 0) return null;
  const letters = Math.min(NAME_LETTERS, Math.floor((width - PLOT_LEFT - PLOT_RIGHT - 8) / LETTER_WIDTH));
  const scale = (ns: number) => PLOT_LEFT + (ns / end) * (width - PLOT_LEFT - PLOT_RIGHT);
  return (
    <svg class="activity" width={width} height={rows.length * ROW_HEIGHT} role="group"
      aria-label="Kernels over time">
      {rows.map((activity, row) => {
        const kernel = byId.get(activity.kernel_id ?? -1);
        if (!kernel) return null;
        const name = kernel.short_name ?? kernel.name ?? "";
        return (
          <g transform={`translate(0,${row * ROW_HEIGHT})`}
            class={selection.kernels.has(kernel.id) ? "chosen" : ""}
            onClick={() => select({ kind: "kernel", id: kernel.id, add: false })}>
            <title>{name}: {format.time(kernel.time_ns)}</title>
            <rect class="row" x={PLOT_LEFT} width={Math.max(0, width - PLOT_LEFT - PLOT_RIGHT)}
              height={ROW_HEIGHT - 3} />
            {cellsOf(activity.start_ns ?? 0, activity.interval_ns ?? 0, activity.busy_share ?? [])
              .map((cell) => (
                <rect x={scale(cell.start)} width={Math.max(0.5, scale(cell.end) - scale(cell.start))}
                  height={ROW_HEIGHT - 3} fill={boundStyle(kernel.bound).color}
                  fill-opacity={0.12 + 0.88 * Math.min(1, cell.busy)} />
              ))}
            <text x={PLOT_LEFT + 4} y={11}>{format.cutMiddle(name, letters)}</text>
          </g>
        );
      })}
    </svg>
  );
}
