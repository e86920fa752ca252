"use client";

import { Autocomplete } from "@base-ui/react/autocomplete";
import { Popover } from "@base-ui/react/popover";
import clsx from "clsx";
import { type RefObject, useState } from "react";
import { StatusShape } from "@/app/_ui/figures/status";
import { useTimeZone } from "@/app/_ui/figures/time";
import { CheckIcon, SearchIcon } from "@/app/_ui/icons";
import type { FilterTargets } from "@/server/catalog/overview";
import { RUN_STATUSES } from "@/server/contract/enums";
import type { RunFilter } from "@/server/runs/read/filter";
import { type Choice, choicesFor, type FilterChange } from "./filter-choices";

/** A list of all conditions, narrowed by typing. Sizes and days can be typed as well. */
export function FilterPicker({
  filter,
  targets,
  anchor,
  initialText,
  onChange,
  onClose,
}: {
  filter: RunFilter;
  targets: FilterTargets;
  anchor: RefObject<HTMLElement | null>;
  initialText: string;
  onChange: (change: FilterChange) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState(initialText);
  const timeZone = useTimeZone();
  const groups = choicesFor(filter, targets, text, timeZone);

  function take(choice: Choice) {
    onChange(choice.change);
    // Several statuses may be selected, so the picker stays open.
    if (!isStatus(choice.label)) onClose();
  }

  return (
    <Popover.Root onOpenChange={(open) => !open && onClose()} open>
      <Popover.Portal>
        <Popover.Positioner
          align="start"
          anchor={anchor}
          className="z-40"
          collisionPadding={8}
          sideOffset={4}
        >
          <Popover.Popup
            aria-label="Filters"
            className="flex max-h-[min(28rem,var(--available-height))] w-72 flex-col overflow-hidden rounded-lg border border-line-strong bg-raised text-ink shadow-raised outline-none"
            finalFocus={anchor}
          >
            <Autocomplete.Root
              autoHighlight="always"
              filter={null}
              inline
              items={groups}
              itemToStringValue={(choice: Choice) => choice.label}
              keepHighlight
              onValueChange={(value, { reason }) => {
                if (reason !== "item-press") setText(value);
              }}
              open
              value={text}
            >
              <div className="flex shrink-0 items-center gap-2 border-line border-b px-3">
                <SearchIcon className="shrink-0 text-muted" />
                <Autocomplete.Input
                  aria-label="Filter by"
                  className="h-10 min-w-0 flex-1 bg-transparent outline-none placeholder:text-faint focus-visible:outline-none"
                  placeholder="Failed, > 10 s, 0.5 credits"
                />
              </div>
              <div className="min-h-0 overflow-y-auto overscroll-contain">
                <Autocomplete.Empty>
                  {groups.length === 0 ? (
                    <p className="px-3 py-3 text-muted">No filter matches “{text.trim()}”.</p>
                  ) : null}
                </Autocomplete.Empty>
                <Autocomplete.List className="p-1 empty:hidden">
                  {(group: { name: string; items: Choice[] }) => (
                    <Autocomplete.Group items={group.items} key={group.name}>
                      <Autocomplete.GroupLabel className="px-2 pt-2 pb-1 text-muted text-xs">
                        {group.name}
                      </Autocomplete.GroupLabel>
                      <Autocomplete.Collection>
                        {(choice: Choice) => (
                          <Autocomplete.Item
                            className="flex min-h-8 cursor-pointer select-none scroll-my-1 items-center gap-2 rounded-md px-2 py-1 outline-none data-[highlighted]:bg-selected"
                            key={choice.id}
                            onClick={() => take(choice)}
                            value={choice}
                          >
                            {isStatus(choice.label) ? <StatusShape status={choice.label} /> : null}
                            <span className="min-w-0 flex-1 truncate first-letter:uppercase">
                              {choice.label}
                            </span>
                            {choice.chosen ? <span className="sr-only">selected</span> : null}
                            <CheckIcon
                              className={clsx("shrink-0 text-accent", !choice.chosen && "invisible")}
                            />
                          </Autocomplete.Item>
                        )}
                      </Autocomplete.Collection>
                    </Autocomplete.Group>
                  )}
                </Autocomplete.List>
              </div>
            </Autocomplete.Root>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

function isStatus(label: string): label is (typeof RUN_STATUSES)[number] {
  return RUN_STATUSES.some((status) => status === label);
}
