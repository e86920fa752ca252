"use client";

import { INPUT_CLASS } from "@/app/_ui/forms/field";
import { type Policies, type Policy, policyAt, readNumber } from "./agent-fields";

type PolicyTableProps = {
  names: readonly string[];
  value: Policies;
  /** What is wrong at a JSON pointer of the definition. */
  faultAt: (path: string) => string | undefined;
  onChange: (change: (before: Policies) => Policies) => void;
};

/** How the agent may use each chosen tool and function. */
export function PolicyTable({ names, value, faultAt, onChange }: PolicyTableProps) {
  if (names.length === 0) return null;
  return (
    <table aria-label="Policies" className="w-full table-fixed text-left">
      <thead>
        <tr className="text-muted text-xs *:pr-2 *:pb-1.5 *:font-normal">
          <th scope="col">Policy of</th>
          <th className="w-18 sm:w-[22%]" scope="col">
            Calls per run
          </th>
          <th className="w-16 sm:w-[18%]" scope="col">
            Retries
          </th>
          <th className="w-36 sm:w-[30%]" scope="col">
            A failed call
          </th>
        </tr>
      </thead>
      {names.map((name) => (
        <PolicyRow
          faultAt={faultAt}
          key={name}
          name={name}
          onChange={(part) =>
            onChange((before) => ({ ...before, [name]: { ...policyAt(before, name), ...part } }))
          }
          value={policyAt(value, name)}
        />
      ))}
    </table>
  );
}

const NUMBERS = [
  {
    part: "maxCalls",
    title: "Calls per run",
    label: (name: string) => `Calls of ${name} per run`,
    none: "Any",
  },
  { part: "retries", title: "Retries", label: (name: string) => `Retries of ${name}`, none: "0" },
] as const;

type PolicyRowProps = {
  name: string;
  value: Policy;
  faultAt: (path: string) => string | undefined;
  onChange: (part: Policy) => void;
};

function PolicyRow({ name, value, faultAt, onChange }: PolicyRowProps) {
  const faults = NUMBERS.flatMap(({ part, title }) => {
    const fault = faultAt(`/policies/${name}/${part}`);
    return fault ? [`${title} ${fault}.`] : [];
  });
  return (
    <tbody>
      <tr className="*:py-1 *:pr-2 *:last:pr-0">
        <th className="mono truncate font-normal" scope="row" title={name}>
          {name}
        </th>
        {NUMBERS.map(({ part, label, none }) => (
          <td key={part}>
            <input
              aria-label={label(name)}
              className={INPUT_CLASS}
              inputMode="numeric"
              onChange={({ target }) =>
                onChange({ [part]: target.value.trim() === "" ? undefined : readNumber(target.value) })
              }
              placeholder={none}
              value={value[part] ?? ""}
            />
          </td>
        ))}
        <td>
          <select
            aria-label={`A failed call of ${name}`}
            className={INPUT_CLASS}
            onChange={({ target }) => onChange({ onError: target.value === "fail" ? "fail" : undefined })}
            value={value.onError ?? "continue"}
          >
            <option value="continue">Tells the model</option>
            <option value="fail">Ends the run</option>
          </select>
        </td>
      </tr>
      {faults.length > 0 ? (
        <tr>
          <td className="pb-1.5 text-failed text-xs" colSpan={4} role="alert">
            {faults.join(" ")}
          </td>
        </tr>
      ) : null}
    </tbody>
  );
}
