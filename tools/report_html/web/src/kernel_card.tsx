import { boundStyle } from "./bounds";
import { useReport } from "./context";
import { deviceLabelOf } from "./device_roofs";
import * as format from "./format";
import * as measured from "./measured";
import type { Kernel } from "./summary";

interface CardProps { kernel: Kernel; left: number; top: number; width: number }

// The numbers of one kernel, beside the pointer.
export function KernelCard({ kernel, left, top, width }: CardProps) {
  const device = deviceLabelOf(useReport().summary, kernel);
  const right = left > width / 2;
  const style = right ? { right: `${width - left + 14}px`, top: `${top}px` }
    : { left: `${left + 14}px`, top: `${top}px` };
  return (
    <div class="card" style={style} role="status">
      <b>{kernel.short_name ?? kernel.name}</b>
      {device && <div>GPU {device}</div>}
      <div>{format.time(kernel.time_ns)} ({format.share(kernel.time_share)}) in{" "}
        {format.count(kernel.launches)} launches</div>
      {kernel.own_time_share !== undefined && <div>beside other kernels: {format.share(kernel.own_time_share)}{" "}
        of the time that its launches lasted is its own</div>}
      <div>{measured.flopRate(kernel)}, {measured.flopShare(kernel)} of peak</div>
      <div>{measured.byteRate(kernel)}, {measured.byteShare(kernel)} of HBM</div>
      <div>{measured.intensity(kernel)} FLOP per byte</div>
      <div>{boundStyle(kernel.bound).label}-bound; estimated savings {format.time(kernel.estimated_savings_ns)}
        {format.plusMinus(kernel.estimated_savings_error_ns, format.time)}</div>
      <div class="muted">{format.sourceText(kernel.flops_source ?? kernel.bytes_source)}</div>
    </div>
  );
}
