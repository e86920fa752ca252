"use client";

import { useId, useState } from "react";
import { INPUT_CLASS } from "@/app/_ui/forms/form";

const MANY = 8;

type PickerProps = {
  label: string;
  none: string;
  options: readonly { value: string; name: string; description: string }[];
  value: readonly string[];
  error: string | undefined;
  onChange: (change: (before: readonly string[]) => string[]) => void;
};

export function Picker({ label, none, options, value, error, onChange }: PickerProps) {
  const id = useId();
  const [search, setSearch] = useState("");
  const wanted = search.trim().toLowerCase();
  const shown = options.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(wanted),
  );
  return (
    <fieldset aria-describedby={error ? `${id}-error` : undefined} className="flex flex-col gap-2">
      <legend className="contents">
        <span className="font-medium">
          {label} <span className="font-normal text-muted">{value.length} chosen</span>
        </span>
      </legend>
      <p className="text-failed text-xs empty:hidden" id={`${id}-error`}>
        {error}
      </p>
      {options.length === 0 ? <p className="text-muted">{none}</p> : null}
      {options.length > MANY ? (
        <input
          aria-label={`Search ${label.toLowerCase()}`}
          className={INPUT_CLASS}
          onChange={(event) => setSearch(event.target.value)}
          placeholder="Search"
          type="search"
          value={search}
        />
      ) : null}
      <ul className="flex max-h-80 flex-col overflow-y-auto rounded-md border border-line-strong empty:hidden">
        {shown.map((option) => (
          <li className="border-line border-b last:border-b-0" key={option.value}>
            <label
              className="flex cursor-pointer gap-3 px-3 py-2 hover:bg-hover"
              htmlFor={`${id}-${option.value}`}
            >
              <input
                checked={value.includes(option.value)}
                className="mt-0.5 size-4 shrink-0 accent-accent"
                id={`${id}-${option.value}`}
                onChange={({ target: { checked } }) =>
                  onChange((before) => {
                    const others = before.filter((each) => each !== option.value);
                    return checked ? [...others, option.value] : others;
                  })
                }
                type="checkbox"
              />
              <span className="min-w-0">
                <span className="block font-medium">{option.name}</span>
                <span className="line-clamp-2 text-muted text-xs">{option.description}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
