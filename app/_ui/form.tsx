"use client";

import clsx from "clsx";
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { INPUT_CLASS } from "@/app/_ui/field";

type ControlProps = { id: string; "aria-describedby"?: string; "aria-invalid"?: true };

/** A control with its label above and a hint or error below. */
function Labelled({
  label,
  hint,
  error,
  className,
  children,
}: Described & { children: (props: ControlProps) => ReactNode }) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div className={clsx("flex min-w-0 flex-col gap-1.5", className)}>
      <label className="font-medium" htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        ...(note ? { "aria-describedby": `${id}-note` } : {}),
        ...(error ? { "aria-invalid": true } : {}),
      })}
      {note ? (
        <p
          className={clsx("text-xs [overflow-wrap:anywhere]", error ? "text-failed" : "text-muted")}
          id={`${id}-note`}
        >
          {note}
        </p>
      ) : null}
    </div>
  );
}

type Described = {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  className?: string;
};
/** The control's own attributes; the current value is reported as a text. */
type Controlled<Attributes> = Omit<Attributes, "onChange" | "value" | "className"> & {
  value: string;
  onChange: (value: string) => void;
};

const INVALID = "aria-invalid:border-failed";

export function TextField({
  label,
  hint,
  error,
  className,
  onChange,
  ...props
}: Described & Controlled<InputHTMLAttributes<HTMLInputElement>>) {
  return (
    <Labelled className={className ?? ""} error={error} hint={hint} label={label}>
      {(control) => (
        <input
          autoComplete="off"
          className={clsx(INPUT_CLASS, INVALID)}
          onChange={(event) => onChange(event.target.value)}
          {...control}
          {...props}
        />
      )}
    </Labelled>
  );
}

export function TextareaField({
  label,
  hint,
  error,
  className,
  onChange,
  ...props
}: Described & Controlled<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  return (
    <Labelled className={className ?? ""} error={error} hint={hint} label={label}>
      {(control) => (
        <textarea
          className={clsx(
            "mono min-h-24 w-full resize-y rounded-md border border-input-line bg-canvas p-2.5",
            INVALID,
          )}
          onChange={(event) => onChange(event.target.value)}
          spellCheck={false}
          {...control}
          {...props}
        />
      )}
    </Labelled>
  );
}

export function SelectField({
  label,
  hint,
  error,
  className,
  onChange,
  children,
  ...props
}: Described & Controlled<SelectHTMLAttributes<HTMLSelectElement>>) {
  return (
    <Labelled className={className ?? ""} error={error} hint={hint} label={label}>
      {(control) => (
        <select
          className={clsx(INPUT_CLASS, INVALID)}
          onChange={(event) => onChange(event.target.value)}
          {...control}
          {...props}
        >
          {children}
        </select>
      )}
    </Labelled>
  );
}

/** Several controls under one heading. */
export function FieldGroup({
  label,
  error,
  children,
}: {
  label: string;
  error?: string | undefined;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <fieldset aria-describedby={error ? id : undefined} className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 font-medium">{label}</legend>
      {children}
      <p className="text-failed text-xs empty:hidden" id={id} role="alert">
        {error}
      </p>
    </fieldset>
  );
}

/** A box to tick or, with `name`, one of several choices. */
export function Choice({
  name,
  checked,
  disabled = false,
  onChange,
  children,
}: {
  name?: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
  children: ReactNode;
}) {
  return (
    <label className="flex min-h-7 min-w-0 items-center gap-2">
      <input
        checked={checked}
        className="size-4 shrink-0 accent-accent"
        disabled={disabled}
        name={name}
        onChange={(event) => onChange(event.target.checked)}
        type={name === undefined ? "checkbox" : "radio"}
      />
      <span className="min-w-0 [overflow-wrap:anywhere]">{children}</span>
    </label>
  );
}
