import clsx from "clsx";
import type { ComponentPropsWithRef } from "react";
import { SearchIcon } from "./icons";

/** A field to search something on the page; `label` is also its placeholder. */
export function SearchField({
  label,
  className,
  ...props
}: ComponentPropsWithRef<"input"> & { label: string }) {
  return (
    <div className={clsx("relative", className)}>
      <SearchIcon className="absolute top-2 left-2 text-faint" />
      <input
        aria-label={label}
        className="h-8 w-full rounded-md border border-input-line bg-canvas pr-2 pl-8 placeholder:text-faint"
        placeholder={label}
        type="search"
        {...props}
      />
    </div>
  );
}
