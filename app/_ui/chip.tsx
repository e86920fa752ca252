import type { ReactNode } from "react";
import { CloseIcon } from "@/app/_ui/icons";

type Props = { label: string; onDrop: () => void; onChange?: () => void; children: ReactNode };

/** A removable filter condition. `onChange` makes it editable; `label` is its accessible name. */
export function Chip({ label, onDrop, onChange, children }: Props) {
  const text = <span className="truncate">{children}</span>;
  return (
    <span className="inline-flex h-8 max-w-full items-center rounded-md border border-line-strong bg-accent-wash">
      {onChange ? (
        <button
          className="flex h-full min-w-0 items-center rounded-l-md pl-2.5 hover:text-accent"
          onClick={onChange}
          title={`Change the ${label}`}
          type="button"
        >
          {text}
        </button>
      ) : (
        <span className="flex min-w-0 pl-2.5">{text}</span>
      )}
      <button
        aria-label={`Remove the filter ${label}`}
        className="flex h-full w-7 shrink-0 items-center justify-center rounded-r-md text-muted hover:text-ink"
        onClick={onDrop}
        type="button"
      >
        <CloseIcon size={12} />
      </button>
    </span>
  );
}
