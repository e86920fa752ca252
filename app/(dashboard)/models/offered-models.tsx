"use client";

import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatCount, formatPlural } from "@/app/_ui/figures/format";
import { TextField } from "@/app/_ui/forms/form";
import { readProblems } from "@/app/_ui/forms/form-problems";
import type { OwnProvider } from "@/server/work/models/own-provider";
import { formatModel } from "../format-model";

type OfferedModelsProps = {
  provider: Pick<OwnProvider, "api" | "baseUrl" | "apiKey">;
  keyValue: string | undefined;
  chosen: readonly string[];
  onToggle: (model: string) => void;
};

const SHOWN = 100;

/** Asks a provider for its models, also before it is saved, and lets one choose among them. */
export function OfferedModels({ provider, keyValue, chosen, onToggle }: OfferedModelsProps) {
  const asked = useMutation(useTRPC().models.discover.mutationOptions());
  const [filter, setFilter] = useState("");
  const { api, baseUrl, apiKey } = provider;
  const result = useRef<HTMLDivElement>(null);
  // The button may be at the end of the visible form.
  useEffect(() => {
    if (asked.data) result.current?.scrollIntoView({ block: "nearest" });
  }, [asked.data]);
  const ask = () =>
    asked.mutate({
      ...(api && { api }),
      // A key that is being typed is no secret yet.
      ...(keyValue === undefined ? apiKey && { apiKey } : keyValue && { keyValue }),
      baseUrl,
    });
  const found = (asked.data?.models ?? []).filter(({ name }) =>
    name.toLowerCase().includes(filter.trim().toLowerCase()),
  );
  const problem = asked.data?.problem ?? readProblems(asked.error, {}, undefined).rest;
  return (
    <div className="flex flex-col gap-2">
      <Button className="self-start" disabled={asked.isPending} onClick={ask}>
        {asked.isPending ? "Loading its models" : "Choose from its models"}
      </Button>
      <div aria-live="polite" className="flex flex-col gap-2 empty:hidden" ref={result}>
        {problem ? (
          <p className="rounded-md bg-failed-wash px-2.5 py-2 text-failed [overflow-wrap:anywhere]">
            <span className="font-medium">Could not load its models.</span> {problem}
            {found.length > 0 ? " These are known:" : ""}
          </p>
        ) : null}
        {asked.data && asked.data.models.length > 0 ? (
          <>
            <TextField
              label={`Find among ${formatPlural(asked.data.models.length, "model")}`}
              onChange={setFilter}
              value={filter}
            />
            <ul className="max-h-56 overflow-y-auto rounded-md border border-line">
              {found.slice(0, SHOWN).map((model) => (
                <li className="border-line border-b last:border-0" key={model.name}>
                  <label
                    className="flex cursor-pointer items-center gap-2 px-2.5 py-1.5 hover:bg-hover"
                    title={formatModel(model)}
                  >
                    <input
                      checked={chosen.includes(model.name)}
                      onChange={() => onToggle(model.name)}
                      type="checkbox"
                    />
                    <span className="mono min-w-0 [overflow-wrap:anywhere]">{model.name}</span>
                    {model.contextWindow === null ? null : (
                      <span className="ml-auto shrink-0 text-muted text-xs">
                        {formatCount(model.contextWindow)} tokens
                      </span>
                    )}
                  </label>
                </li>
              ))}
            </ul>
            {found.length > SHOWN ? (
              <p className="text-muted text-xs">{formatCount(found.length - SHOWN)} more match.</p>
            ) : null}
          </>
        ) : null}
      </div>
    </div>
  );
}
