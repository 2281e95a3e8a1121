import { useId, useMemo } from "preact/hooks";
import { boundStyle } from "../bounds";
import { useWidth } from "../width";
import { layOut, type Box, type OwnerNode } from "./owner_tree";

const ROW_HEIGHT = 26;
const LEAST_WIDTH_OF_LABEL = 24;

interface IcicleProps {
  label: string;
  zoomed: OwnerNode;
  active?: string;  // key of the part that figures are shown of
  setActive: (key: string | undefined) => void;
  choose: (node: OwnerNode) => void;
}

function step<T>(items: T[], at: number, by: number): T | undefined {
  return items[Math.min(items.length - 1, Math.max(0, at + by))];
}

// Left and right go to neighbours, up to what is around, down to the widest inside.
function nextBox(boxes: Box[], active: string | undefined, key: string): Box | undefined {
  const at = boxes.find((box) => box.node.key === active);
  if (!key.startsWith("Arrow") && key !== "Home") return undefined;
  if (!at || key === "Home") return boxes[0];
  if (key === "ArrowUp") return boxes.find((box) => box.node === at.node.parent) ?? at;
  if (key === "ArrowDown") {
    return boxes.filter((box) => box.node.parent === at.node)
      .sort((a, b) => b.width - a.width)[0] ?? at;
  }
  const row = boxes.filter((box) => box.depth === at.depth);
  return step(row, row.indexOf(at), key === "ArrowRight" ? 1 : -1);
}

function BoxView({ box, id, active, zoomed, setActive, choose }:
  { box: Box; id: string; active: boolean; zoomed: boolean } & Pick<IcicleProps, "setActive" | "choose">) {
  const { node, depth, left, width } = box;
  const color = boundStyle(node.owner.bound).color;
  return (
    <div id={id} role="treeitem" aria-level={depth + 1} aria-selected={zoomed}
      aria-label={node.label} data-owner={node.key}
      class={`box${active ? " active" : ""}${zoomed ? " zoomed" : ""}`}
      style={{ left: `${left}px`, width: `${Math.max(1, width - 1)}px`,
        top: `${depth * ROW_HEIGHT}px`, height: `${ROW_HEIGHT - 2}px`, borderLeftColor: color,
        background: `color-mix(in srgb, ${color} 26%, var(--page))` }}
      onMouseEnter={() => setActive(node.key)} onClick={() => choose(node)}>
      {width >= LEAST_WIDTH_OF_LABEL && <span>{node.label}</span>}
    </div>
  );
}

// Parts side by side, as wide as their weight; what is inside a part stands below it.
export function Icicle({ label, zoomed, active, setActive, choose }: IcicleProps) {
  const [frame, width] = useWidth<HTMLDivElement>(900);
  const id = useId();
  const boxes = useMemo(() => layOut(zoomed, width), [zoomed, width]);
  const depth = boxes.reduce((most, box) => Math.max(most, box.depth), 0);
  const activeAt = boxes.findIndex((box) => box.node.key === active);
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.key === "Enter" || event.key === " ") && activeAt >= 0) {
      event.preventDefault();
      choose(boxes[activeAt].node);
      return;
    }
    const next = nextBox(boxes, active, event.key);
    if (!next) return;
    event.preventDefault();
    setActive(next.node.key);
  };
  return (
    <div class="icicle" role="tree" tabIndex={0} ref={frame} onKeyDown={onKeyDown}
      aria-label={`${label} The arrow keys go through the parts, Enter chooses one.`}
      aria-activedescendant={activeAt >= 0 ? `${id}-${activeAt}` : undefined}
      style={{ height: `${(depth + 1) * ROW_HEIGHT}px` }} onMouseLeave={() => setActive(undefined)}>
      {boxes.map((box, index) => (
        <BoxView key={box.node.key} box={box} id={`${id}-${index}`} active={box.node.key === active}
          zoomed={box.node === zoomed} setActive={setActive} choose={choose} />
      ))}
    </div>
  );
}
