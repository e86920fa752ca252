"use client";

import { INPUT_CLASS } from "@/app/_ui/forms/form";
import { type Policies, type Policy, policyAt, readNumber } from "./agent-fields";

type PolicyTableProps = {
  names: readonly string[];
  value: Policies;
  /** `path`: a JSON pointer into the definition. */
  issueAt: (path: string) => string | undefined;
  onChange: (change: (before: Policies) => Policies) => void;
};

const NUMBERS = [
  { part: "maxCalls", title: "Calls per run", width: "sm:w-[22%]", none: "Any" },
  { part: "retries", title: "Retries", width: "sm:w-[18%]", none: "0" },
] as const;

export function PolicyTable({ names, value, issueAt, onChange }: PolicyTableProps) {
  if (names.length === 0) return null;
  const set = (name: string, part: Policy) =>
    onChange((before) => ({ ...before, [name]: { ...policyAt(before, name), ...part } }));
  const issuesOf = (name: string) =>
    NUMBERS.flatMap(({ part, title }) => {
      const issue = issueAt(`/policies/${name}/${part}`);
      return issue ? `${title} ${issue}.` : [];
    });
  return (
    <table aria-label="Policies" className="w-full table-fixed text-left">
      <thead>
        <tr className="text-muted text-xs *:pr-2 *:pb-1.5 *:font-normal">
          <th className="max-sm:hidden" scope="col">
            Policy of
          </th>
          {NUMBERS.map(({ title, width }) => (
            <th className={width} key={title} scope="col">
              {title}
            </th>
          ))}
          <th className="w-36 sm:w-[30%]" scope="col">
            A failed call
          </th>
        </tr>
      </thead>
      {names.map((name) => (
        <tbody key={name}>
          {/* On a phone, a name has its own line: beside the fields it would be cut. */}
          <tr className="sm:hidden">
            <th className="mono pt-1 font-normal [overflow-wrap:anywhere]" colSpan={3} scope="rowgroup">
              {name}
            </th>
          </tr>
          <tr className="*:py-1 *:pr-2 *:last:pr-0">
            <th className="mono truncate font-normal max-sm:hidden" scope="row" title={name}>
              {name}
            </th>
            {NUMBERS.map(({ part, none }) => (
              <td key={part}>
                <input
                  aria-label={part === "maxCalls" ? `Calls of ${name} per run` : `Retries of ${name}`}
                  className={INPUT_CLASS}
                  inputMode="numeric"
                  onChange={({ target }) =>
                    set(name, { [part]: target.value.trim() === "" ? undefined : readNumber(target.value) })
                  }
                  placeholder={none}
                  value={policyAt(value, name)[part] ?? ""}
                />
              </td>
            ))}
            <td>
              <select
                aria-label={`A failed call of ${name}`}
                className={INPUT_CLASS}
                onChange={({ target }) =>
                  set(name, { onError: target.value === "fail" ? "fail" : undefined })
                }
                value={policyAt(value, name).onError ?? "continue"}
              >
                <option value="continue">Tells the model</option>
                <option value="fail">Ends the run</option>
              </select>
            </td>
          </tr>
          {issuesOf(name).length > 0 ? (
            <tr>
              <td className="pb-1.5 text-failed text-xs" colSpan={4} role="alert">
                {issuesOf(name).join(" ")}
              </td>
            </tr>
          ) : null}
        </tbody>
      ))}
    </table>
  );
}
