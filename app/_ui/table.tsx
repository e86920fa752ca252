import type { ReactNode, TdHTMLAttributes, ThHTMLAttributes } from "react";
import { classNames } from "@/app/_ui/class-names";

/** A list as a table: rows of 40 px, full width, lines between. */
export function Table({
  label,
  className,
  children,
}: {
  label: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <table aria-label={label} className={classNames("w-full border-line border-t text-left", className)}>
      {children}
    </table>
  );
}

export function HeadCell({ className, ...props }: ThHTMLAttributes<HTMLTableCellElement>) {
  return (
    <th
      className={classNames(
        "h-8 whitespace-nowrap border-line border-b px-3 font-normal text-muted text-xs first:pl-4 last:pr-4 sm:first:pl-6 sm:last:pr-6",
        className,
      )}
      scope="col"
      {...props}
    />
  );
}

export function Cell({ className, ...props }: TdHTMLAttributes<HTMLTableCellElement>) {
  return (
    <td
      className={classNames(
        "h-10 border-line border-b px-3 py-1 first:pl-4 last:pr-4 sm:first:pl-6 sm:last:pr-6",
        className,
      )}
      {...props}
    />
  );
}
