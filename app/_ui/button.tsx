import clsx from "clsx";
import type { ButtonHTMLAttributes, Ref } from "react";

type ButtonLook = "primary" | "plain" | "quiet" | "danger";

const LOOKS: Record<ButtonLook, string> = {
  primary: "bg-accent-fill text-on-accent hover:bg-accent-fill-hover",
  plain: "border border-line-strong bg-raised text-ink shadow-control hover:bg-hover",
  quiet: "text-muted hover:bg-hover hover:text-ink",
  danger: "border border-line-strong bg-raised text-failed shadow-control hover:bg-failed-wash",
};

/** The class names of a button, for links and triggers that look like one. */
export function buttonClass(look: ButtonLook = "plain", extra?: string): string {
  return clsx(
    "inline-flex h-8 shrink-0 items-center justify-center gap-1.5 whitespace-nowrap rounded-md px-3 font-medium",
    "disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:cursor-not-allowed aria-disabled:opacity-55",
    LOOKS[look],
    extra,
  );
}

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: ButtonLook;
  ref?: Ref<HTMLButtonElement>;
};

export function Button({ look = "plain", className, type = "button", ...props }: ButtonProps) {
  return <button className={buttonClass(look, className)} type={type} {...props} />;
}

/** A square button that shows only an icon; `label` is its name. */
export function IconButton({ label, className, ...props }: Omit<ButtonProps, "look"> & { label: string }) {
  return (
    <button
      aria-label={label}
      className={clsx(
        "inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink",
        className,
      )}
      title={label}
      type="button"
      {...props}
    />
  );
}
