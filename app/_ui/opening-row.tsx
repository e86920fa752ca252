"use client";

import clsx from "clsx";
import { type ReactNode, useState } from "react";
import { ChevronRightIcon } from "@/app/_ui/icons";

type OpeningRowProps = {
  className: string;
  details: ReactNode;
  children: (button: (content: ReactNode) => ReactNode) => ReactNode;
};

/** The details span no columns: with hidden ones among them, the shown ones would not fill the table. */
export function OpeningRow({ className, details, children }: OpeningRowProps) {
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
          <td className="p-0 max-md:block">
            <div className="w-[100cqw] border-line border-b">{details}</div>
          </td>
        </tr>
      ) : null}
    </>
  );
}
