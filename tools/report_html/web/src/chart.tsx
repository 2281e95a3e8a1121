// A uPlot chart inside Preact: made anew when its data, width or colours change.
import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { TimeWindow } from "./selection";

export interface ChartLine { label: string; values: (number | null)[]; color: string; dash?: number[] }

// Room left and right of the plot, so that what stands under a chart can line up with it.
export const PLOT_LEFT = 76;
export const PLOT_RIGHT = 10;

export interface ChartProps {
  label: string;                      // for those who cannot see it
  x: number[];
  lines: ChartLine[];
  width: number;
  height: number;
  xText: (value: number) => string;
  yText: (value: number) => string;
  xRange?: [number, number];
  yRange?: [number, number];          // else from zero to the largest value
  points?: boolean;
  marks?: number[];                   // indices drawn as warnings
  group?: string;                     // charts of one group move their pointers together
  band?: TimeWindow;                  // highlighted part of the x axis
  onSelect?: (low: number, high: number) => void;
  onClick?: (index: number) => void;
  dark: boolean;
}

function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function resolved(color: string): string {
  const variable = /^var\((--[\w-]+)\)$/.exec(color);
  return variable ? cssColor(variable[1]) : color;
}

function drawBand(chart: uPlot, band: TimeWindow): void {
  const left = Math.max(chart.bbox.left, chart.valToPos(band.start_ns, "x", true));
  const right = Math.min(chart.bbox.left + chart.bbox.width, chart.valToPos(band.end_ns, "x", true));
  if (right <= left) return;
  chart.ctx.save();
  chart.ctx.fillStyle = cssColor("--selected");
  chart.ctx.fillRect(left, chart.bbox.top, Math.max(2, right - left), chart.bbox.height);
  chart.ctx.restore();
}

function drawMarks(chart: uPlot, marks: number[]): void {
  chart.ctx.save();
  chart.ctx.fillStyle = cssColor("--warning");
  for (const index of marks) {
    const x = chart.data[0][index];
    const y = chart.data[1]?.[index];
    if (x === undefined || y === undefined || y === null) continue;
    chart.ctx.beginPath();
    chart.ctx.arc(chart.valToPos(x, "x", true), chart.valToPos(y, "y", true),
      4 * devicePixelRatio, 0, 2 * Math.PI);
    chart.ctx.fill();
  }
  chart.ctx.restore();
}

function optionsOf(props: ChartProps): uPlot.Options {
  const text = cssColor("--muted");
  const grid = { stroke: cssColor("--grid"), width: 1 };
  const axis = { stroke: text, grid, ticks: grid, font: "11px system-ui, sans-serif" };
  const { onSelect, onClick, group, marks, band } = props;
  return {
    width: props.width,
    height: props.height,
    legend: { show: false },
    cursor: {
      drag: { x: onSelect !== undefined, y: false, setScale: false },
      sync: group === undefined ? undefined : { key: group, setSeries: false },
      points: { size: 6 },
    },
    padding: [8, PLOT_RIGHT, 0, 0],
    scales: {
      x: { time: false, ...(props.xRange ? { range: props.xRange } : {}) },
      y: { range: props.yRange ?? ((_, __, largest) => [0, largest > 0 ? largest * 1.08 : 1]) },
    },
    axes: [
      { ...axis, size: 26, space: 70, values: (_, ticks) => ticks.map(props.xText) },
      { ...axis, size: PLOT_LEFT, space: 26, values: (_, ticks) => ticks.map((tick) => (tick === 0 ? "0" : props.yText(tick))) },
    ],
    series: [{}, ...props.lines.map((line) => ({
      label: line.label,
      stroke: resolved(line.color),
      width: 1.5,
      dash: line.dash,
      spanGaps: false,
      points: { show: props.points === true, size: 4, fill: resolved(line.color) },
    }))],
    hooks: {
      drawAxes: band ? [(chart: uPlot) => drawBand(chart, band)] : [],
      draw: marks ? [(chart: uPlot) => drawMarks(chart, marks)] : [],
      setSelect: onSelect ? [(chart: uPlot) => {
        const { left, width } = chart.select;
        if (width < 3) return;
        onSelect(chart.posToVal(left, "x"), chart.posToVal(left + width, "x"));
        chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }] : [],
      ready: onClick ? [(chart: uPlot) => {
        chart.over.addEventListener("click", () => {
          const index = chart.cursor.idx;
          if (index !== null && index !== undefined) onClick(index);
        });
      }] : [],
    },
  };
}

export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const { x, lines, width, height, dark, band } = props;
  // Before the next paint, so that a chart has its size when the page is printed.
  useLayoutEffect(() => {
    const element = place.current;
    if (!element || width <= 0) return undefined;
    const data = [x, ...lines.map((line) => line.values)] as uPlot.AlignedData;
    const chart = new uPlot(optionsOf(props), data, element);
    return () => chart.destroy();
  }, [x, lines, width, height, dark, band]);
  return <div ref={place} class="chart" role="img" aria-label={props.label} />;
}
