import type { ReactNode } from "react";

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-4 border-line border-t pt-4">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  );
}
