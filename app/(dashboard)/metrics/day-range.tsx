"use client";

import { type FormEvent, useState } from "react";
import { INPUT_CLASS } from "@/app/_ui/forms/form";
import { isRange } from "./address";

type Days = { first: string; last: string };

const NO_DAYS: Days = { first: "", last: "" };

export function DayRange({ days, onChange }: { days: Days | null; onChange: (days: Days) => void }) {
  const [typed, setTyped] = useState(days ?? NO_DAYS);
  const [applied, setApplied] = useState(days);
  if (applied?.first !== days?.first || applied?.last !== days?.last) {
    setApplied(days);
    setTyped(days ?? NO_DAYS);
  }
  /** Reads both fields, because the other one may have changed since the last rendering. */
  function read({ currentTarget }: FormEvent<HTMLFieldSetElement>) {
    const [first = "", last = ""] = [...currentTarget.querySelectorAll("input")].map(({ value }) => value);
    setTyped({ first, last });
    if (isRange({ first, last })) onChange({ first, last });
  }
  const field = (name: keyof Days, label: string) => (
    <input
      aria-label={label}
      className={`${INPUT_CLASS} h-8! w-34!`}
      onChange={() => {}}
      title={`${label}, a day in UTC`}
      type="date"
      value={typed[name]}
    />
  );
  return (
    <fieldset className="flex items-center gap-1.5" onInput={read}>
      <legend className="sr-only">Days</legend>
      {field("first", "From")}
      <span className="text-muted">to</span>
      {field("last", "To")}
    </fieldset>
  );
}
