import clsx from "clsx";
import { type InputHTMLAttributes, useId } from "react";

export const INPUT_CLASS =
  "h-9 w-full rounded-md border border-input-line bg-canvas px-2.5 text-ink placeholder:text-faint focus-visible:border-accent";

/** A labelled single-line input. */
export function Field({
  label,
  className,
  ...props
}: InputHTMLAttributes<HTMLInputElement> & { label: string; name: string }) {
  const id = useId();
  return (
    <div className={clsx("flex flex-col gap-1.5", className)}>
      <label className="font-medium" htmlFor={id}>
        {label}
      </label>
      <input className={INPUT_CLASS} id={id} {...props} />
    </div>
  );
}
