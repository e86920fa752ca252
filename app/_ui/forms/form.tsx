"use client";

import clsx from "clsx";
import { type ComponentProps, type ComponentPropsWithRef, type ReactNode, useId } from "react";

export const INPUT_CLASS =
  "h-9 w-full rounded-md border border-input-line bg-canvas px-2.5 text-ink placeholder:text-faint focus-visible:border-accent aria-invalid:border-failed";

type ControlProps = { id: string; "aria-describedby"?: string; "aria-invalid"?: true };

export function Labeled({
  label,
  end,
  hint,
  error,
  className,
  isLabelHidden = false,
  children,
}: Described & { children: (props: ControlProps) => ReactNode }) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div className={clsx("flex min-w-0 flex-col gap-1.5", className)}>
      <span className={isLabelHidden ? "sr-only" : "flex items-center justify-between gap-2"}>
        <label className="font-medium" htmlFor={id}>
          {label}
        </label>
        {end}
      </span>
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

export type Described = {
  label: string;
  end?: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  className?: string | undefined;
  isLabelHidden?: boolean | undefined;
};
type FieldProps<Attributes> = Described &
  Omit<Attributes, "onChange" | "value" | "className"> & {
    value: string;
    onChange: (value: string) => void;
  };

function split<Props extends Described & { onChange: (value: string) => void }>(props: Props) {
  const { label, end, hint, error, className, isLabelHidden, onChange, ...attributes } = props;
  const onText = (event: { target: { value: string } }) => onChange(event.target.value);
  return { description: { label, end, hint, error, className, isLabelHidden }, onText, attributes };
}

/** `code`: for expressions, ids and the like. */
export function TextField({
  code = false,
  ...props
}: FieldProps<ComponentPropsWithRef<"input">> & { code?: boolean }) {
  const { description, onText, attributes } = split(props);
  const look = clsx(INPUT_CLASS, "disabled:opacity-60", code && "mono");
  return (
    <Labeled {...description}>
      {(control) => (
        <input autoComplete="off" className={look} onChange={onText} {...control} {...attributes} />
      )}
    </Labeled>
  );
}

/** Text that people read, or a list with one item a line; `code`: its items are names and the like. */
export function TextareaField({
  code = false,
  ...props
}: FieldProps<ComponentPropsWithRef<"textarea">> & { code?: boolean }) {
  const { description, onText, attributes } = split(props);
  const look = clsx(
    "min-h-24 w-full resize-y rounded-md border border-input-line bg-canvas p-2.5 aria-invalid:border-failed",
    code ? "mono" : "leading-6",
  );
  return (
    <Labeled {...description}>
      {(control) => (
        <textarea className={look} onChange={onText} spellCheck={!code} {...control} {...attributes} />
      )}
    </Labeled>
  );
}

/** A single-line input whose value the browser holds, for forms that work without JavaScript. */
export function UncontrolledField({ label, ...props }: ComponentProps<"input"> & { label: string }) {
  return (
    <Labeled label={label}>{(control) => <input className={INPUT_CLASS} {...control} {...props} />}</Labeled>
  );
}

export function SelectField({ children, ...props }: FieldProps<ComponentProps<"select">>) {
  const { description, onText, attributes } = split(props);
  return (
    <Labeled {...description}>
      {(control) => (
        <select className={INPUT_CLASS} onChange={onText} {...control} {...attributes}>
          {children}
        </select>
      )}
    </Labeled>
  );
}

type OptionFieldProps<Value extends string> = Omit<ComponentProps<typeof SelectField>, "onChange"> & {
  options: readonly { value: Value; label: string; disabled?: boolean }[];
  onChange: (value: Value) => void;
};

/** A select with given options, one of which it reports. */
export function OptionField<Value extends string>({ options, onChange, ...props }: OptionFieldProps<Value>) {
  const choose = (text: string) => {
    const chosen = options.find(({ value }) => value === text);
    if (chosen) onChange(chosen.value);
  };
  return (
    <SelectField {...props} onChange={choose}>
      {options.map(({ value, label, disabled }) => (
        <option disabled={disabled} key={value} value={value}>
          {label}
        </option>
      ))}
    </SelectField>
  );
}

type FieldGroupProps = { label: string; error?: string | undefined; children: ReactNode };

export function FieldGroup({ label, error, children }: FieldGroupProps) {
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

type ChoiceProps = {
  name?: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: ReactNode;
};

/** A box to tick or, with `name`, one of several choices. */
export function Choice({ name, checked, onChange, children }: ChoiceProps) {
  return (
    <label className="flex min-h-7 min-w-0 items-center gap-2">
      <input
        checked={checked}
        className="size-4 shrink-0 accent-accent"
        name={name}
        onChange={(event) => onChange(event.target.checked)}
        type={name === undefined ? "checkbox" : "radio"}
      />
      <span className="min-w-0 [overflow-wrap:anywhere]">{children}</span>
    </label>
  );
}
