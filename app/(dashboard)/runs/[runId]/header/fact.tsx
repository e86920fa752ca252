import clsx from "clsx";
import type { ReactNode } from "react";

/** One figure in a run's header. Most are clear without a label; `named` shows it. */
export function HeaderFact({
  name,
  named = false,
  strong = false,
  className,
  children,
}: {
  name: string;
  named?: boolean;
  strong?: boolean;
  className?: string;
  children: ReactNode;
}) {
  return (
    <div className={clsx(named && "flex gap-x-1 whitespace-nowrap", className)}>
      <dt className={named ? undefined : "sr-only"}>{named ? name.toLowerCase() : name}</dt>
      <dd className={strong ? "text-ink" : undefined}>{children}</dd>
    </div>
  );
}
