import { useQuery } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import { type FormEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { Chip } from "@/app/_ui/chip";
import { useTimeZone } from "@/app/_ui/data/clock";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatCount } from "@/app/_ui/figures/format";
import { PlusIcon } from "@/app/_ui/icons";
import { useKeyHint, usePageKeys } from "@/app/_ui/page/page-keys";
import { SearchField } from "@/app/_ui/search-field";
import { useReportedText } from "@/app/_ui/use-reported-text";
import type { FilterTargets } from "@/server/catalog/overview";
import { SEARCHED_CHARACTERS } from "@/server/contract/limits";
import { MAX_SEARCH_LENGTH } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { withText } from "../../address";
import { CONDITIONS } from "../../conditions";
import { type FilterChange, without } from "./filter-choices";

const load = () => import("./filter-picker");
const FilterPicker = dynamic(() => load().then((module) => module.FilterPicker), { ssr: false });

/** Describes the search of server/runs/read/find.ts. */
export const SEARCH_HELP = `Finds runs that contain all words: in the first ${formatCount(SEARCHED_CHARACTERS.text)} characters of input or output, or the first ${formatCount(SEARCHED_CHARACTERS.error)} of the error. A word matches by its beginning; a word of one or two letters matches only as a whole. While a run is in progress, the search matches the exact text of its input. Punctuation is not searched.`;

const NOTHING: FilterTargets = { agents: [], tools: [], triggers: [], schedules: [], keys: [], people: [] };

/** The filter as chips, a search field, and a picker with all conditions. */
export function FilterBar({
  filter,
  onChange,
  onSearch = onChange,
  children,
}: {
  filter: RunFilter;
  onChange: (change: FilterChange) => void;
  onSearch?: (change: FilterChange) => void;
  children?: ReactNode;
}) {
  const trpc = useTRPC();
  const timeZone = useTimeZone();
  const targets = useQuery(trpc.catalog.filterTargets.queryOptions()).data ?? NOTHING;
  const button = useRef<HTMLButtonElement>(null);
  /** The initial text of the picker; null while it is closed. */
  const [picking, setPicking] = useState<string | null>(null);
  const chips = CONDITIONS.flatMap(({ field, name, group, describeAlone }) => {
    const text = describeAlone(filter, { targets, timeZone });
    return text === "" ? [] : [{ field, group, text, name: name || text }];
  });
  const pressedWhileOpen = useRef(false);
  const hint = useKeyHint("f");
  usePageKeys({ f: () => setPicking("") });

  return (
    <search className="flex flex-wrap items-center gap-2 px-4 pb-3 sm:px-6">
      <TextSearch
        onChange={(text) => onSearch((latest) => withText(latest, text))}
        text={filter.text ?? ""}
      />
      {chips.map(({ field, name, group, text }) => (
        <Chip
          key={field}
          label={name}
          onChange={() => setPicking(field === "metadata" ? "" : group.toLowerCase())}
          onDrop={() => onChange((latest) => without(latest, field))}
        >
          {text}
        </Chip>
      ))}
      <Button
        aria-expanded={picking !== null}
        aria-haspopup="dialog"
        aria-keyshortcuts={hint === "" ? undefined : "f"}
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
        title={`Filter${hint}`}
      >
        <PlusIcon />
        Filter
      </Button>
      {chips.length > 1 ? (
        <Button
          look="quiet"
          onClick={() => onChange(({ text }) => withText({ source: "outside" }, text ?? ""))}
        >
          Clear filters
        </Button>
      ) : null}
      {children}
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

/** Enter and leaving the field search immediately, so that no late search disturbs the next page. */
function TextSearch({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const { typed, setTyped, ...field } = useReportedText(text, onChange);
  const report = () => field.report(typed.trim());
  const reportPaused = useEffectEvent(report);
  const searchHint = useKeyHint("/");
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
        maxLength={MAX_SEARCH_LENGTH}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={report}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          // Some browsers would clear the field.
          event.preventDefault();
          event.currentTarget.blur();
        }}
        title={`Search${searchHint}\n${SEARCH_HELP}`}
        placeholder="Words of input, output, error; id"
        value={typed}
      />
    </form>
  );
}
