// The width that a chart may take, followed as the window changes.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

// What fits a sheet of A4 or Letter.
const PAPER_WIDTH = 680;

export function useWidth<T extends HTMLElement>(first: number): [RefObject<T | null>, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(first);
  useLayoutEffect(() => {
    const target = element.current;
    if (!target) return undefined;
    let printing = false;
    const measure = () => {
      if (!printing && target.clientWidth > 0) setWidth(target.clientWidth);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    const onPrint = () => { printing = true; setWidth(PAPER_WIDTH); };
    const onPrinted = () => { printing = false; measure(); };
    window.addEventListener("beforeprint", onPrint);
    window.addEventListener("afterprint", onPrinted);
    return () => {
      observer.disconnect();
      window.removeEventListener("beforeprint", onPrint);
      window.removeEventListener("afterprint", onPrinted);
    };
  }, []);
  return [element, width];
}
