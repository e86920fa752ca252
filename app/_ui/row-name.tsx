import type { ReactNode } from "react";
import { Link } from "@/app/_ui/link";

type RowNameProps = { href: string; name: string; slug?: string; children?: ReactNode };

/** The row's link, the slug if it differs from the name, and their neighbors. */
export function RowName({ href, name, slug = name, children }: RowNameProps) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      {/* A slug that has no room beside the name is below it. */}
      <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
        <Link
          className="max-w-full truncate font-medium after:absolute after:inset-0"
          href={href}
          title={name}
        >
          {name}
        </Link>
        {slug === name ? null : (
          <span className="mono max-w-full truncate text-muted leading-4" title={slug}>
            {slug}
          </span>
        )}
      </span>
      {children}
    </span>
  );
}

/** A control beside a row's name. With a mouse, it appears with the pointer or the focus. */
export function RowControl({ children }: { children: ReactNode }) {
  return (
    <span className="relative z-10 pointer-fine:opacity-0 pointer-fine:group-hover:opacity-100 has-focus-visible:opacity-100!">
      {children}
    </span>
  );
}

/** A word beside a name, such as inactive or disabled. */
export function Badge({ children }: { children: ReactNode }) {
  return (
    <span className="shrink-0 whitespace-nowrap rounded border border-line-strong px-1.5 text-muted text-xs">
      {children}
    </span>
  );
}
