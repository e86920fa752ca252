import clsx from "clsx";
import type { ComponentProps, ReactNode } from "react";
import { ChevronLeftIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";

export function PageHead({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <header className="flex min-h-14 flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2.5 sm:px-6">
      <h1 className="font-semibold text-title tracking-[-0.012em]">{title}</h1>
      <div className="ml-auto flex flex-wrap items-center gap-2">{children}</div>
    </header>
  );
}

/** The way from a page to the one above it. */
export function BackLink({
  href,
  children,
  onClick,
}: Pick<ComponentProps<typeof Link>, "href" | "onClick" | "children">) {
  return (
    <Link
      className="-ml-1 flex items-center gap-0.5 rounded-md py-1 pr-1.5 text-muted hover:text-ink"
      href={href}
      {...(onClick ? { onClick } : {})}
    >
      <ChevronLeftIcon />
      {children}
    </Link>
  );
}

type DetailHeadProps = {
  back: { href: string; label: string };
  title: ReactNode;
  className?: string;
  children?: ReactNode;
};

/** The head of a page below another one: the way back, the title, facts and actions. */
export function DetailHead({ back, title, className, children }: DetailHeadProps) {
  return (
    <header
      className={clsx("flex min-h-14 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 sm:px-6", className)}
    >
      <BackLink href={back.href}>{back.label}</BackLink>
      <h1 className="min-w-0 truncate font-semibold text-title tracking-[-0.012em]">{title}</h1>
      {children}
    </header>
  );
}

/** An empty state: one sentence and the next step. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex max-w-xl flex-col items-start gap-3 px-4 py-10 sm:px-6">
      <p className="font-medium text-base">{title}</p>
      <div className="flex w-full min-w-0 flex-col items-start gap-3 text-muted">{children}</div>
    </div>
  );
}

/** An error inside a page: what happened, and the way out. */
export function Problem({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div
      className="m-4 flex max-w-xl flex-col items-start gap-2 rounded-lg border border-line bg-failed-wash px-4 py-3 sm:m-6"
      role="alert"
    >
      <p className="font-medium text-failed">{title}</p>
      <div className="text-ink">{children}</div>
    </div>
  );
}

/** A gray bar in place of a text that is loading. */
export function SkeletonLine({ className }: { className: string }) {
  return <span aria-hidden="true" className={clsx("inline-block h-3 rounded bg-hover", className)} />;
}

export function Command({ children }: { children: string }) {
  return (
    <pre
      className="mono max-w-full overflow-x-auto rounded-md border border-line bg-surface px-3 py-2 text-ink"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
      tabIndex={0}
    >
      {children}
    </pre>
  );
}
