import type { ComponentChildren } from "preact";

interface SectionProps {
  id: string;
  title: string;
  note?: ComponentChildren;
  children: ComponentChildren;
}

// One block of the report, with a heading to jump to.
export function Section({ id, title, note, children }: SectionProps) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {note && <p class="note">{note}</p>}
      {children}
    </section>
  );
}
