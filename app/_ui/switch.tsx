import type { ReactNode } from "react";

type Props = { checked: boolean; onChange: (checked: boolean) => void; children: ReactNode };

/** A setting that is on or off and takes effect immediately. */
export function Switch({ checked, onChange, children }: Props) {
  return (
    <label className="inline-flex h-8 cursor-pointer items-center gap-2 text-muted hover:text-ink">
      <input
        aria-checked={checked}
        checked={checked}
        className="peer sr-only"
        onChange={({ target }) => onChange(target.checked)}
        role="switch"
        type="checkbox"
      />
      <span
        aria-hidden="true"
        className="flex h-4 w-7 items-center rounded-full bg-input-line p-0.5 transition-colors duration-100 peer-checked:bg-accent-fill peer-checked:*:translate-x-3 peer-focus-visible:outline-2 peer-focus-visible:outline-focus peer-focus-visible:outline-offset-1"
      >
        <span className="size-3 rounded-full bg-canvas transition-transform duration-100" />
      </span>
      {children}
    </label>
  );
}
