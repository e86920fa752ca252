"use client";

import { useQuery } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import { type FormEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { Chip } from "@/app/_ui/chip";
import { useTRPC } from "@/app/_ui/data/providers";
import { useTimeZone } from "@/app/_ui/figures/time";
import { PlusIcon } from "@/app/_ui/icons";
import { usePageKeys } from "@/app/_ui/page/page-keys";
import { SearchField } from "@/app/_ui/search-field";
import type { FilterTargets, NamedTarget } from "@/server/catalog/overview";
import type { RunFilter } from "@/server/runs/read/filter";
import { LONGEST_TEXT } from "../address";
import type { FilterChange } from "./filter-choices";
import { PERIOD_LABELS, SEARCH_HELP, SOURCE_LABELS, sizeLabels, timeLabels } from "./filter-labels";

const load = () => import("./filter-picker");
/** Loaded when the pointer or focus reaches it. */
const FilterPicker = dynamic(() => load().then((module) => module.FilterPicker), { ssr: false });

const NOTHING: FilterTargets = { agents: [], tools: [], triggers: [], keys: [], people: [] };

/** The filter as chips, a search field, and a picker with all conditions. */
export function FilterBar({
  filter,
  onChange,
  onSearch = onChange,
}: {
  filter: RunFilter;
  /** Called when a condition is added or removed. */
  onChange: (change: FilterChange) => void;
  /** Called when the text changes; defaults to `onChange`. */
  onSearch?: (change: FilterChange) => void;
}) {
  const trpc = useTRPC();
  const timeZone = useTimeZone();
  const targets = useQuery(trpc.catalog.filterTargets.queryOptions()).data ?? NOTHING;
  const button = useRef<HTMLButtonElement>(null);
  /** The initial text of the open picker; null while it is closed. */
  const [picking, setPicking] = useState<string | null>(null);
  const chips = chipsOf(filter, targets, timeZone);
  const pressedWhileOpen = useRef(false);
  usePageKeys({ f: () => setPicking("") });

  return (
    <search className="flex flex-wrap items-center gap-2 px-4 pb-3 sm:px-6">
      <TextSearch
        onChange={(text) => onSearch(({ text: _, ...rest }) => (text ? { ...rest, text } : rest))}
        text={filter.text ?? ""}
      />
      {chips.map(({ field, label, text, typed }) => (
        <Chip
          key={field}
          label={label}
          onChange={() => setPicking(typed)}
          onDrop={() => onChange(({ [field]: _, ...rest }) => rest)}
        >
          {text}
        </Chip>
      ))}
      <Button
        aria-expanded={picking !== null}
        aria-haspopup="dialog"
        aria-keyshortcuts="f"
        className="border-dashed"
        onClick={() => {
          // Pointer-down outside closes the picker before the click arrives, and the click must not open it again.
          if (!pressedWhileOpen.current) setPicking("");
          pressedWhileOpen.current = false;
        }}
        onFocus={() => void load()}
        onPointerDown={() => {
          pressedWhileOpen.current = picking !== null;
        }}
        onPointerEnter={() => void load()}
        ref={button}
        title="Filter (f)"
      >
        <PlusIcon />
        Filter
      </Button>
      {chips.length > 1 ? (
        <Button look="quiet" onClick={() => onChange(({ text }) => (text ? { text } : {}))}>
          Clear filters
        </Button>
      ) : null}
      {picking === null ? null : (
        <FilterPicker
          anchor={button}
          filter={filter}
          initialText={picking}
          onChange={onChange}
          onClose={() => setPicking(null)}
          targets={targets}
        />
      )}
    </search>
  );
}

type ChipFacts = {
  field: keyof RunFilter;
  /** What the condition is about. */
  label: string;
  text: string;
  /** The text that lists the other values in the picker. */
  typed: string;
};

/** The conditions of the filter: “Failed · Helper · last 24 h”. */
function chipsOf(filter: RunFilter, targets: FilterTargets, timeZone: string): ChipFacts[] {
  const { status, kind, agentId, toolId, triggerId, apiKeyId, userId, source, period } = filter;
  const nameOf = (list: NamedTarget[], id: string) => list.find((each) => each.id === id)?.name ?? "unknown";
  const chips: (ChipFacts | false | "" | undefined)[] = [
    status?.length !== 0 && status && chip("status", { label: "status", text: status.join(" or ") }),
    kind && chip("kind", { label: "kind", text: `${kind} runs` }),
    agentId && chip("agentId", { label: "agent", text: nameOf(targets.agents, agentId) }),
    toolId && chip("toolId", { label: "tool", text: nameOf(targets.tools, toolId) }),
    triggerId &&
      chip("triggerId", { label: "trigger", text: `trigger ${nameOf(targets.triggers, triggerId)}` }),
    apiKeyId &&
      chip("apiKeyId", { label: "key", text: `key ${nameOf(targets.keys, apiKeyId)}`, typed: "API key" }),
    userId && chip("userId", { label: "person", text: `by ${nameOf(targets.people, userId)}` }),
    ...sizeLabels(filter).map(({ field, text }) =>
      chip(field, { label: text, text, typed: SIZE_GROUPS[field] ?? "" }),
    ),
    source && chip("source", { label: "source", text: SOURCE_LABELS[source], typed: "started by" }),
    period && chip("period", { label: "period", text: PERIOD_LABELS[period], typed: "created" }),
    ...timeLabels(filter, timeZone).map(({ field, text }) =>
      chip(field, { label: field === "from" ? "begin" : "end", text, typed: "created" }),
    ),
  ];
  return chips.filter((each): each is ChipFacts => Boolean(each));
}

function chip(
  field: keyof RunFilter,
  { label, text, typed = label }: { label: string; text: string; typed?: string },
): ChipFacts {
  return { field, label, text, typed };
}

const SIZE_GROUPS: Partial<Record<keyof RunFilter, string>> = {
  minDurationMs: "duration",
  maxDurationMs: "duration",
  minTokens: "tokens",
  maxTokens: "tokens",
  minCredits: "credits",
  maxCredits: "credits",
};

/**
 * Searches once typing pauses. Enter and leaving the field search immediately, so that no late search disturbs the next
 * page.
 */
function TextSearch({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [typed, setTyped] = useState(text);
  /** The texts that were reported and have not come back yet, oldest first. */
  const reported = useRef<string[]>([]);
  function report() {
    const wanted = typed.trim();
    if (wanted === (reported.current.at(-1) ?? text)) return;
    reported.current.push(wanted);
    onChange(wanted);
  }
  const reportPaused = useEffectEvent(report);
  /** The last text that came. The first effect may run after the first key and must not replace what was typed. */
  const arrived = useRef(text);
  useEffect(() => {
    if (arrived.current === text) return;
    arrived.current = text;
    const at = reported.current.lastIndexOf(text);
    reported.current = reported.current.slice(at + 1);
    // A text of this field comes back late, when more may have been typed. Any other text replaces what was typed.
    if (at < 0) setTyped(text);
  }, [text]);
  useEffect(() => {
    if (typed.trim() === text) return;
    const timer = setTimeout(reportPaused, 400);
    return () => clearTimeout(timer);
  }, [typed, text]);
  return (
    <form
      className="w-full sm:w-72"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        report();
      }}
    >
      <SearchField
        label="Search runs"
        data-search
        maxLength={LONGEST_TEXT}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={report}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          // Some browsers would clear the field.
          event.preventDefault();
          event.currentTarget.blur();
        }}
        title={`Search (/)\n${SEARCH_HELP}`}
        placeholder="Words of input, output, error; id"
        value={typed}
      />
    </form>
  );
}
