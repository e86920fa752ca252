"use client";

import { Menu as Base } from "@base-ui/react/menu";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { buttonClass } from "@/app/_ui/button";
import { formatCount, formatDuration } from "@/app/_ui/format";
import { CheckIcon, ChevronRightIcon, CloseIcon, PlusIcon, SearchIcon } from "@/app/_ui/icons";
import { POPUP_CLASS } from "@/app/_ui/menu";
import { useTRPC } from "@/app/_ui/providers";
import { StatusShape } from "@/app/_ui/status";
import type { FilterTargets, NamedTarget } from "@/server/catalog/overview";
import type { RunFilter } from "@/server/runs/filter";
import {
  RUN_PERIODS,
  RUN_SOURCES,
  RUN_STATUSES,
  type RunPeriod,
  type RunSourceWord,
} from "@/server/runs/words";

const PERIOD_WORDS: Record<RunPeriod, string> = {
  "1h": "last hour",
  "24h": "last 24 h",
  "7d": "last 7 days",
  "30d": "last 30 days",
  "90d": "last 90 days",
};
const SOURCE_WORDS: Record<RunSourceWord, string> = {
  api: "by API",
  webhook: "by webhook",
  dashboard: "from the dashboard",
  operator: "by the operator",
  run: "by another run",
};
const NOTHING: FilterTargets = { agents: [], tools: [], triggers: [], keys: [], people: [] };

/** Filters as chips that read as a sentence, a search, and a menu with more. */
export function FilterBar({
  filter,
  onChange,
}: {
  filter: RunFilter;
  onChange: (filter: RunFilter) => void;
}) {
  const trpc = useTRPC();
  const targets = useQuery(trpc.catalog.filterTargets.queryOptions()).data ?? NOTHING;
  const set = (change: Partial<RunFilter>) => onChange({ ...filter, ...change });
  const drop = (field: keyof RunFilter) => {
    const { [field]: _, ...rest } = filter;
    onChange(rest);
  };
  const nameOf = (list: NamedTarget[], id: string) => list.find((each) => each.id === id)?.name ?? "unknown";

  return (
    <search className="flex flex-wrap items-center gap-2 px-4 pb-3 sm:px-6">
      <TextSearch onChange={(text) => (text ? set({ text }) : drop("text"))} text={filter.text ?? ""} />
      {filter.status?.length ? (
        <Chip label="status" onDrop={() => drop("status")}>
          {filter.status.join(" or ")}
        </Chip>
      ) : null}
      {filter.kind ? (
        <Chip label="kind" onDrop={() => drop("kind")}>
          {filter.kind} runs
        </Chip>
      ) : null}
      {filter.agentId ? (
        <Chip label="agent" onDrop={() => drop("agentId")}>
          {nameOf(targets.agents, filter.agentId)}
        </Chip>
      ) : null}
      {filter.toolId ? (
        <Chip label="tool" onDrop={() => drop("toolId")}>
          {nameOf(targets.tools, filter.toolId)}
        </Chip>
      ) : null}
      {filter.triggerId ? (
        <Chip label="trigger" onDrop={() => drop("triggerId")}>
          trigger {nameOf(targets.triggers, filter.triggerId)}
        </Chip>
      ) : null}
      {filter.apiKeyId ? (
        <Chip label="key" onDrop={() => drop("apiKeyId")}>
          key {nameOf(targets.keys, filter.apiKeyId)}
        </Chip>
      ) : null}
      {filter.userId ? (
        <Chip label="person" onDrop={() => drop("userId")}>
          by {nameOf(targets.people, filter.userId)}
        </Chip>
      ) : null}
      {sizeChips(filter).map(([field, words]) => (
        <Chip key={field} label={words} onDrop={() => drop(field)}>
          {words}
        </Chip>
      ))}
      {filter.source ? (
        <Chip label="source" onDrop={() => drop("source")}>
          {SOURCE_WORDS[filter.source]}
        </Chip>
      ) : null}
      {filter.period ? (
        <Chip label="period" onDrop={() => drop("period")}>
          {PERIOD_WORDS[filter.period]}
        </Chip>
      ) : null}
      {filter.from ? (
        <Chip label="begin" onDrop={() => drop("from")}>
          from {shortMoment(filter.from)}
        </Chip>
      ) : null}
      {filter.to ? (
        <Chip label="end" onDrop={() => drop("to")}>
          to {shortMoment(filter.to)}
        </Chip>
      ) : null}
      <Base.Root modal={false}>
        <Base.Trigger className={buttonClass("quiet")}>
          <PlusIcon />
          Filter
        </Base.Trigger>
        <Base.Portal>
          <Base.Positioner align="start" className="z-40 outline-none" sideOffset={4}>
            <Base.Popup className={POPUP_CLASS}>
              <Submenu label="Status">
                {RUN_STATUSES.map((status) => (
                  <Base.CheckboxItem
                    checked={filter.status?.includes(status) ?? false}
                    className={ITEM}
                    key={status}
                    onCheckedChange={(checked) => {
                      const rest = (filter.status ?? []).filter((each) => each !== status);
                      const next = checked ? [...rest, status] : rest;
                      if (next.length > 0) set({ status: next });
                      else drop("status");
                    }}
                  >
                    <StatusShape status={status} />
                    <span className="flex-1">{status}</span>
                    <Base.CheckboxItemIndicator>
                      <CheckIcon className="text-accent" />
                    </Base.CheckboxItemIndicator>
                  </Base.CheckboxItem>
                ))}
              </Submenu>
              <Submenu label="Time">
                {RUN_PERIODS.map((period) => (
                  <Item key={period} onClick={() => set({ period })}>
                    {PERIOD_WORDS[period]}
                  </Item>
                ))}
              </Submenu>
              <TargetMenu label="Agent" list={targets.agents} onChoose={(agentId) => set({ agentId })} />
              <TargetMenu label="Tool" list={targets.tools} onChoose={(toolId) => set({ toolId })} />
              <TargetMenu
                label="Trigger"
                list={targets.triggers}
                onChoose={(triggerId) => set({ triggerId })}
              />
              <TargetMenu label="API key" list={targets.keys} onChoose={(apiKeyId) => set({ apiKeyId })} />
              <TargetMenu label="Person" list={targets.people} onChoose={(userId) => set({ userId })} />
              <Submenu label="Duration">
                {[1_000, 10_000, 60_000, 600_000].map((ms) => (
                  <Item key={ms} onClick={() => set({ minDurationMs: ms })}>
                    {formatDuration(ms)} and more
                  </Item>
                ))}
              </Submenu>
              <Submenu label="Tokens">
                {[1_000, 10_000, 100_000].map((tokens) => (
                  <Item key={tokens} onClick={() => set({ minTokens: tokens })}>
                    {formatCount(tokens)} and more
                  </Item>
                ))}
              </Submenu>
              <Submenu label="Credits">
                {["0.1", "1", "10"].map((credits) => (
                  <Item key={credits} onClick={() => set({ minCredits: credits })}>
                    {credits} and more
                  </Item>
                ))}
              </Submenu>
              <Submenu label="Kind">
                <Item onClick={() => set({ kind: "agent" })}>agent runs</Item>
                <Item onClick={() => set({ kind: "tool" })}>tool runs</Item>
              </Submenu>
              <Submenu label="Started">
                {RUN_SOURCES.map((source) => (
                  <Item key={source} onClick={() => set({ source })}>
                    {SOURCE_WORDS[source]}
                  </Item>
                ))}
              </Submenu>
            </Base.Popup>
          </Base.Positioner>
        </Base.Portal>
      </Base.Root>
    </search>
  );
}

const ITEM =
  "flex min-h-8 cursor-pointer select-none items-center gap-2 rounded-md px-2 py-1 outline-none data-[highlighted]:bg-hover data-[popup-open]:bg-hover";

function Item({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Base.Item className={ITEM} onClick={onClick}>
      {children}
    </Base.Item>
  );
}

function Submenu({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Base.SubmenuRoot>
      <Base.SubmenuTrigger className={ITEM}>
        <span className="flex-1">{label}</span>
        <ChevronRightIcon className="text-muted" />
      </Base.SubmenuTrigger>
      <Base.Portal>
        <Base.Positioner className="z-50 outline-none" sideOffset={2}>
          <Base.Popup className={`${POPUP_CLASS} max-h-[60dvh] overflow-y-auto`}>{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.SubmenuRoot>
  );
}

function TargetMenu({
  label,
  list,
  onChoose,
}: {
  label: string;
  list: NamedTarget[];
  onChoose: (id: string) => void;
}) {
  if (list.length === 0) return null;
  return (
    <Submenu label={label}>
      {list.map(({ id, name }) => (
        <Item key={id} onClick={() => onChoose(id)}>
          <span className="truncate">{name}</span>
        </Item>
      ))}
    </Submenu>
  );
}

function Chip({ label, onDrop, children }: { label: string; onDrop: () => void; children: ReactNode }) {
  return (
    <span className="inline-flex h-8 max-w-full items-center rounded-md border border-line-strong bg-accent-wash pl-2.5">
      <span className="truncate">{children}</span>
      <button
        aria-label={`Remove the filter ${label}`}
        className="flex h-full w-7 items-center justify-center text-muted hover:text-ink"
        onClick={onDrop}
        type="button"
      >
        <CloseIcon height="12" width="12" />
      </button>
    </span>
  );
}

/** Searches once typing rests; `enter` searches at once. */
function TextSearch({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [typed, setTyped] = useState(text);
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  });
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (typed.trim() === text) return;
    const timer = setTimeout(() => latest.current(typed.trim()), 400);
    return () => clearTimeout(timer);
  }, [typed, text]);
  return (
    <form
      className="relative w-full sm:w-64"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        onChange(typed.trim());
      }}
    >
      <SearchIcon className="absolute top-2 left-2 text-faint" />
      <input
        aria-label="Search runs"
        className="h-8 w-full rounded-md border border-line-strong bg-canvas pr-2 pl-8 placeholder:text-faint"
        data-search
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        placeholder="Search input, output, error, id"
        type="search"
        value={typed}
      />
    </form>
  );
}

/** The sizes that a filter asks for, in words. */
function sizeChips(filter: RunFilter): [keyof RunFilter, string][] {
  const { minDurationMs, maxDurationMs, minTokens, maxTokens, minCredits, maxCredits } = filter;
  const chips: [keyof RunFilter, string | undefined][] = [
    [
      "minDurationMs",
      minDurationMs === undefined ? undefined : `took ${formatDuration(minDurationMs)} or more`,
    ],
    [
      "maxDurationMs",
      maxDurationMs === undefined ? undefined : `took ${formatDuration(maxDurationMs)} or less`,
    ],
    ["minTokens", minTokens === undefined ? undefined : `${formatCount(minTokens)} tokens or more`],
    ["maxTokens", maxTokens === undefined ? undefined : `${formatCount(maxTokens)} tokens or less`],
    ["minCredits", minCredits === undefined ? undefined : `${minCredits} credits or more`],
    ["maxCredits", maxCredits === undefined ? undefined : `${maxCredits} credits or less`],
  ];
  return chips.flatMap(([field, words]) => (words === undefined ? [] : [[field, words]]));
}

function shortMoment(iso: string): string {
  return iso.slice(0, 16).replace("T", " ");
}
