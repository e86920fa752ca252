"use client";

import clsx from "clsx";
import { type ReactNode, useState } from "react";
import { ChevronRightIcon } from "@/app/_ui/icons";

type OpeningRowProps = {
  className: string;
  details: ReactNode;
  span: number;
  /** `button` makes the first cell one that covers the row. */
  children: (button: (content: ReactNode) => ReactNode) => ReactNode;
};

export function OpeningRow({ className, details, span, children }: OpeningRowProps) {
  const [open, setOpen] = useState(false);
  const button = (content: ReactNode) => (
    <button
      aria-expanded={open}
      className="flex max-w-full items-center gap-2 text-left after:absolute after:inset-0"
      onClick={() => setOpen(!open)}
      type="button"
    >
      <ChevronRightIcon className={clsx("shrink-0 text-faint", open && "rotate-90")} size={12} />
      {content}
    </button>
  );
  return (
    <>
      <tr className={className}>{children(button)}</tr>
      {open ? (
        <tr className="max-md:block">
          <td className="border-line border-b max-md:block" colSpan={span}>
            {details}
          </td>
        </tr>
      ) : null}
    </>
  );
}
