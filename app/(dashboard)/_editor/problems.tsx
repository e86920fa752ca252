"use client";

import { Button } from "@/app/_ui/button";
import { describeError } from "@/app/_ui/data/query-client";
import type { TextProblem } from "@/server/catalog/edit-definition";
import type { Check } from "./use-checked";

/** What is wrong with a definition, with a way to each line. */
export function Problems({
  check,
  problems,
  onShow,
}: {
  check: Check;
  problems: readonly TextProblem[];
  onShow: (line: number) => void;
}) {
  if (check.isError) {
    return (
      <section aria-label="Problems" aria-live="polite" className="flex flex-col items-start gap-2">
        <h2 className="font-semibold">Could not check the definition</h2>
        <p className="text-failed [overflow-wrap:anywhere]">{describeError(check.error).message}</p>
        <Button disabled={check.isFetching} onClick={() => void check.refetch()}>
          Check again
        </Button>
      </section>
    );
  }
  return (
    <section aria-label="Problems" aria-live="polite">
      <h2 className="font-semibold">
        {check.isPending ? "Checking" : problems.length === 0 ? "No problems" : "Problems"}
      </h2>
      <ul className="mt-1 flex flex-col gap-1.5">
        {problems.map(({ line, message }) => (
          <li className="[overflow-wrap:anywhere]" key={`${line} ${message}`}>
            {line === null ? null : (
              <button
                className="mr-1.5 text-accent hover:underline"
                onClick={() => onShow(line)}
                type="button"
              >
                Line {line}
              </button>
            )}
            {message}
          </li>
        ))}
      </ul>
    </section>
  );
}
