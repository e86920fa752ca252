"use client";

import { INPUT_CLASS } from "@/app/_ui/forms/form";

/** An attachment's policy as its form shows it: numbers are texts, empty ones not set. */
export type PolicyFields = { maxCalls: string; retries: string; onError: "continue" | "fail" };

const DEFAULTS: PolicyFields = { maxCalls: "", retries: "", onError: "continue" };

/** The policy of an attachment, which may be named like a property that all objects have. */
export function policyAt(policies: Readonly<Record<string, PolicyFields>>, name: string): PolicyFields {
  return (Object.hasOwn(policies, name) ? policies[name] : undefined) ?? DEFAULTS;
}

type Change = (before: Readonly<Record<string, PolicyFields>>) => Record<string, PolicyFields>;

/** How the agent may use each chosen tool and function. */
export function Policies({
  names,
  value,
  faultAt,
  onChange,
}: {
  names: readonly string[];
  value: Readonly<Record<string, PolicyFields>>;
  /** What is wrong at a JSON pointer of the definition. */
  faultAt: (path: string) => string | undefined;
  onChange: (change: Change) => void;
}) {
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
        <Policy
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

function Policy({
  name,
  value,
  faultAt,
  onChange,
}: {
  name: string;
  value: PolicyFields;
  faultAt: (path: string) => string | undefined;
  onChange: (part: Partial<PolicyFields>) => void;
}) {
  const faults = [
    ["Calls per run", faultAt(`/policies/${name}/maxCalls`)],
    ["Retries", faultAt(`/policies/${name}/retries`)],
  ].flatMap(([label, fault]) => (fault ? [`${label} ${fault}.`] : []));
  return (
    <tbody>
      <tr className="*:py-1 *:pr-2 *:last:pr-0">
        <th className="mono truncate font-normal" scope="row" title={name}>
          {name}
        </th>
        <td>
          <input
            aria-label={`Calls of ${name} per run`}
            className={INPUT_CLASS}
            inputMode="numeric"
            onChange={(event) => onChange({ maxCalls: event.target.value })}
            placeholder="Any"
            value={value.maxCalls}
          />
        </td>
        <td>
          <input
            aria-label={`Retries of ${name}`}
            className={INPUT_CLASS}
            inputMode="numeric"
            onChange={(event) => onChange({ retries: event.target.value })}
            placeholder="0"
            value={value.retries}
          />
        </td>
        <td>
          <select
            aria-label={`A failed call of ${name}`}
            className={INPUT_CLASS}
            onChange={(event) => onChange({ onError: event.target.value === "fail" ? "fail" : "continue" })}
            value={value.onError}
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
