"use client";

import { useState } from "react";
import { useNow, useTimeZone } from "@/app/_ui/data/clock";
import { formatDate } from "@/app/_ui/figures/format";
import { OptionField, TextField } from "@/app/_ui/forms/form";
import { EXPIRIES, type ExpiryDraft, readExpiry } from "./expiry";

/**
 * The state of an `ExpiryField`: its `field` props, what to send, and the form's own issues. @param kept the time
 * that is set already, if it can stay @param preset what is chosen before the person chooses
 */
export function useExpiry(
  kept: string | null = null,
  preset: ExpiryDraft["expiry"] = kept === null ? "never" : "kept",
) {
  const now = useNow();
  const timeZone = useTimeZone();
  const [chosen, setValue] = useState<ExpiryDraft | null>(null);
  const isOpen = chosen === null || (chosen.expiry === "kept" && kept === null);
  const value = isOpen ? { expiry: preset, date: "" } : chosen;
  return { ...readExpiry(value, { now, timeZone, kept }), field: { value, kept, onChange: setValue } };
}

type ExpiryFieldProps = ReturnType<typeof useExpiry>["field"] & {
  error: string | undefined;
  what: string;
};

export function ExpiryField({ value, kept, error, what, onChange }: ExpiryFieldProps) {
  const timeZone = useTimeZone();
  const options = [
    ...(kept === null
      ? []
      : [{ value: "kept", label: `Unchanged: ${formatDate(new Date(kept), timeZone)}` } as const]),
    ...(value.expiry === "none" ? [{ value: "none", label: "Choose…" } as const] : []),
    ...EXPIRIES,
  ];
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <OptionField
        error={value.expiry === "date" ? undefined : error}
        label="Expires"
        onChange={(expiry) => onChange({ ...value, expiry })}
        options={options}
        value={value.expiry}
      />
      {value.expiry === "date" ? (
        <TextField
          error={error}
          hint={`${what} works until the end of this day.`}
          label="Last day"
          onChange={(date) => onChange({ ...value, date })}
          type="date"
          value={value.date}
        />
      ) : null}
    </div>
  );
}
