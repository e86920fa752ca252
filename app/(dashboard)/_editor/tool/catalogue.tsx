"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useRef, useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { Dialog } from "@/app/_ui/dialog";
import { INPUT_CLASS } from "@/app/_ui/forms/field";
import { emptyOf, readField } from "@/app/(dashboard)/_run/schema-value";
import type { Choices, FunctionChoice } from "@/server/catalog/edit-definition";

/** Something that a new step can call. `step`: the step without its id. */
export type Callable = {
  name: string;
  description: string;
  /** The text that the step's id is made from. */
  id: string;
  step: object;
};

type CatalogueProps = { title: string; onPick: (callable: Callable) => void; onClose: () => void };

/** Functions and tools to pick for a new step, with a search. The caller moves the focus to the new step. */
export function Catalogue({ title, onPick, onClose }: CatalogueProps) {
  const trpc = useTRPC();
  const { data: choices } = useSuspenseQuery(trpc.definitions.choices.queryOptions());
  const { data: functions } = useSuspenseQuery(trpc.definitions.functions.queryOptions());
  const [search, setSearch] = useState("");
  const picked = useRef(false);
  const words = search.toLowerCase().split(/\s+/);
  const groups = Object.entries(listCallables(functions, choices.tools)).flatMap(([name, callables]) => {
    const items = callables.filter((callable) => {
      const text = `${callable.name} ${callable.description}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    return items.length > 0 ? [{ name, items }] : [];
  });
  function pick(callable: Callable) {
    picked.current = true;
    onPick(callable);
  }
  /** Enter in the search picks the first one; the arrows move through the search and the list. */
  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const first = groups[0]?.items[0];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, li > button")];
      const at = stops.findIndex((stop) => stop.matches(":focus"));
      stops[Math.max(0, at + step)]?.focus();
    } else if (event.key === "Enter" && event.target instanceof HTMLInputElement && first) pick(first);
    else return;
    event.preventDefault();
  }
  return (
    <Dialog finalFocus={() => !picked.current} onClose={onClose} title={title}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it handles the keys of the controls inside. */}
      <div className="flex flex-col gap-4" onKeyDown={onKeyDown}>
        <input
          aria-label="Search functions and tools"
          autoFocus
          className={INPUT_CLASS}
          onChange={(event) => setSearch(event.target.value)}
          placeholder="Search functions and tools"
          type="search"
          value={search}
        />
        {groups.length === 0 ? <p className="text-muted">Nothing matches “{search}”.</p> : null}
        {groups.map(({ name, items }) => (
          <section aria-label={name} key={name}>
            <h3 className="text-muted text-xs">{name}</h3>
            <ul className="-mx-2 mt-1">
              {items.map((callable) => (
                <li key={callable.name}>
                  <button
                    className="w-full rounded-md px-2 py-1.5 text-left hover:bg-hover"
                    onClick={() => pick(callable)}
                    type="button"
                  >
                    <span className="mono block font-medium">{callable.name}</span>
                    <span className="line-clamp-2 text-muted text-xs">{callable.description}</span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

/** What a new step can call: each function, and each of the organization's tools. */
function listCallables(functions: readonly FunctionChoice[], tools: Choices["tools"]) {
  return {
    Functions: functions.map(
      ({ name, description, input }): Callable => ({
        name,
        description,
        id: name,
        step: { uses: name, with: requiredInputs(JSON.parse(input)) },
      }),
    ),
    Tools: tools.map(
      ({ slug, name, description }): Callable => ({
        name: slug,
        description: description || name,
        id: slug.replaceAll("-", "_").replace(/^\d/, "_$&"),
        step: { uses: "run_tool", with: { tool: slug, input: {} } },
      }),
    ),
  };
}

/** The required inputs of a function, empty. */
function requiredInputs(schema: unknown): Record<string, unknown> {
  const field = readField(schema);
  const properties = field.kind === "object" ? field.properties.filter(({ required }) => required) : [];
  return Object.fromEntries(properties.map(({ name, schema }) => [name, emptyOf(schema) ?? ""]));
}
