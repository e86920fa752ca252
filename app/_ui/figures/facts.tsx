import type { ReactNode } from "react";

/** Names and values in two columns; on a phone the value is below its name. */
export function Facts({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section aria-label={label} className="border-line border-t">
      <dl>{children}</dl>
    </section>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="border-line border-b px-4 py-2 sm:grid sm:grid-cols-[9rem_minmax(0,1fr)] sm:gap-x-4 sm:px-6">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

export function PartHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-2 px-4 pt-4 pb-1.5 sm:px-6">
      <h2 className="font-semibold">{title}</h2>
      <div className="ml-auto flex flex-wrap items-center gap-2">{children}</div>
    </div>
  );
}
