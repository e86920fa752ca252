import { Popover } from "@base-ui/react/popover";
import clsx from "clsx";
import { type RefObject, useState } from "react";
import { useTimeZone } from "@/app/_ui/data/clock";
import { StatusShape } from "@/app/_ui/figures/status";
import { FindList } from "@/app/_ui/find-list";
import { CheckIcon } from "@/app/_ui/icons";
import type { FilterTargets } from "@/server/catalog/overview";
import { LISTED_STATUSES } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/find/filter";
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
  const groups = choicesFor(filter, { targets, text, timeZone });

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
            <FindList
              groups={groups}
              label="Filter by"
              nothing={
                groups.length === 0 ? (
                  <p className="px-3 py-3 text-muted">No filter matches “{text.trim()}”.</p>
                ) : null
              }
              onTake={take}
              onText={setText}
              placeholder="Failed, > 10 s, 0.5 credits"
              text={text}
            >
              {({ label, chosen }) => (
                <>
                  {isStatus(label) ? <StatusShape status={label} /> : null}
                  <span className="min-w-0 flex-1 truncate first-letter:uppercase">{label}</span>
                  {chosen ? <span className="sr-only">selected</span> : null}
                  <CheckIcon className={clsx("shrink-0 text-accent", !chosen && "invisible")} />
                </>
              )}
            </FindList>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

function isStatus(label: string): label is (typeof LISTED_STATUSES)[number] {
  return LISTED_STATUSES.some((status) => status === label);
}
