"use client";

import { TextareaField, TextField } from "@/app/_ui/forms/form";

/** The value of a secret, hidden while it is typed. */
export function ValueField({
  value,
  error,
  autoFocus = false,
  onChange,
}: {
  value: string;
  error: string | undefined;
  autoFocus?: boolean;
  onChange: (value: string) => void;
}) {
  return (
    <TextField
      autoComplete="new-password"
      autoFocus={autoFocus}
      error={error}
      hint="Encrypted when you save. Nobody can read it again, so keep the original."
      label="Value"
      onChange={onChange}
      type="password"
      value={value}
    />
  );
}

/** The hosts that may receive a secret. */
export function HostsField({
  value,
  error,
  onChange,
}: {
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  return (
    <TextareaField
      error={error}
      hint="One per line, such as api.github.com or localhost:8080. Without wildcards."
      label="Allowed hosts"
      onChange={onChange}
      value={value}
    />
  );
}
