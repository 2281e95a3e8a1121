import { useEffect, useRef, useState } from "preact/hooks";

const SHOWN_FOR_MS = 2500;

function selectAll(element: HTMLElement): void {
  const range = document.createRange();
  range.selectNodeContents(element);
  const selection = window.getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
}

// A line to type, with a button that copies it. Where the browser does not let it, the line is
// selected, for the person to copy.
export function CopiedCode({ text }: { text: string }) {
  const code = useRef<HTMLElement>(null);
  const [said, say] = useState("");
  useEffect(() => {
    if (said === "") return undefined;
    const timer = setTimeout(() => say(""), SHOWN_FOR_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () => {
    const selectInstead = () => {
      if (code.current) selectAll(code.current);
      say("selected");
    };
    if (!navigator.clipboard) selectInstead();
    else navigator.clipboard.writeText(text).then(() => say("copied"), selectInstead);
  };
  return (
    <div class="type-this">
      <code ref={code}>{text}</code>
      <button type="button" aria-label={`Copy: ${text}`} onClick={copy}>{said || "copy"}</button>
      <span class="hidden" role="status">{said}</span>
    </div>
  );
}
