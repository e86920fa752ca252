"use client";

import { useState } from "react";
import { formatDate } from "@/app/_ui/figures/format";
import { useNow, useTimeZone } from "@/app/_ui/figures/time";
import { EXPIRIES, type ExpiryDraft, readExpiry } from "@/app/_ui/forms/expiry";
import { SelectField, TextField } from "@/app/_ui/forms/form";

/** The state of an ExpiryField: its props, and `read`, which returns undefined and marks the field if no date is chosen. */
export function useExpiry(kept: string | null = null) {
  const now = useNow();
  const [draft, setDraft] = useState<ExpiryDraft>({ expiry: kept === null ? "never" : "kept", date: "" });
  const [noDate, setNoDate] = useState(false);
  return {
    read() {
      const expiresAt = readExpiry(draft, { now, kept });
      setNoDate(expiresAt === undefined);
      return expiresAt;
    },
    props: (error: string | undefined) => ({
      value: draft,
      kept,
      error: noDate ? "Choose a date." : error,
      onChange: (part: Partial<ExpiryDraft>) => setDraft((before) => ({ ...before, ...part })),
    }),
  };
}

/** A choice of when something expires, with a date field for "On a date". */
export function ExpiryField({
  value,
  kept = null,
  error,
  what,
  onChange,
}: {
  value: ExpiryDraft;
  /** The time that is set already, if it can stay. */
  kept?: string | null;
  error: string | undefined;
  /** What expires, for the hint: "The key". */
  what: string;
  onChange: (part: Partial<ExpiryDraft>) => void;
}) {
  const timeZone = useTimeZone();
  const options = [
    ...(kept === null
      ? []
      : [{ value: "kept", label: `As now: ${formatDate(new Date(kept), timeZone)}` } as const]),
    ...EXPIRIES,
  ];
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        error={value.expiry === "date" ? undefined : error}
        label="Expires"
        onChange={(text) => {
          const chosen = options.find((option) => option.value === text);
          if (chosen) onChange({ expiry: chosen.value });
        }}
        value={value.expiry}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </SelectField>
      {value.expiry === "date" ? (
        <TextField
          error={error}
          hint={`${what} works until the end of this day.`}
          label="Last day"
          onChange={(date) => onChange({ date })}
          type="date"
          value={value.date}
        />
      ) : null}
    </div>
  );
}
