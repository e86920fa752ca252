"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { CopyButton } from "@/app/_ui/copy-button";
import { useTRPC } from "@/app/_ui/providers";

/** The functions that a step may use, with what they do. */
export function FunctionList() {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.definitions.choices.queryOptions());
  return (
    <section aria-label="Functions">
      <h2 className="font-semibold">Functions</h2>
      <ul className="mt-1 flex flex-col gap-2">
        {data.functions.map(({ name, title, description }) => (
          <li key={name}>
            <p className="flex items-center gap-1">
              <span className="mono font-medium" title={title}>
                {name}
              </span>
              <CopyButton
                label={`Copy a step with ${name}`}
                text={`  - id: ${name}\n    uses: ${name}\n    with: {}\n`}
              />
            </p>
            <p className="line-clamp-2 text-muted text-xs">{description}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
