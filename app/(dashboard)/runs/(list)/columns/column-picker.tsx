import { Popover } from "@base-ui/react/popover";
import clsx from "clsx";
import type { ReactNode, RefObject } from "react";
import { Button } from "@/app/_ui/button";
import { DownIcon, UpIcon } from "@/app/_ui/icons";
import { COLUMN_NAMES, type ColumnName, moveColumn, USUAL_COLUMNS, writeColumns } from "./column-choice";
import { HEADS } from "./run-columns";

type Props = {
  columns: readonly ColumnName[];
  anchor: RefObject<HTMLElement | null>;
  onChange: (columns: readonly ColumnName[]) => void;
  onClose: () => void;
};

export function ColumnPicker({ columns, anchor, onChange, onClose }: Props) {
  const others = COLUMN_NAMES.filter((name) => !columns.includes(name));
  return (
    <Popover.Root onOpenChange={(open) => !open && onClose()} open>
      <Popover.Portal>
        <Popover.Positioner align="end" anchor={anchor} className="z-40" collisionPadding={8} sideOffset={4}>
          <Popover.Popup
            aria-label="Columns"
            className="flex max-h-(--available-height) w-64 flex-col overflow-y-auto rounded-lg border border-line-strong bg-raised p-1 text-ink shadow-raised outline-none"
            finalFocus={anchor}
          >
            <Heading>Shown, from left to right</Heading>
            <ul>
              {columns.map((name, index) => (
                <li className="flex items-center rounded-md pr-1 hover:bg-hover" key={name}>
                  <Choice
                    isShown
                    name={name}
                    onChange={() => onChange(columns.filter((each) => each !== name))}
                  />
                  <Move
                    isAtEnd={index === 0}
                    label={`Move ${HEADS[name]} to the left`}
                    onMove={() => onChange(moveColumn(columns, name, -1))}
                  >
                    <UpIcon size={14} />
                  </Move>
                  <Move
                    isAtEnd={index === columns.length - 1}
                    label={`Move ${HEADS[name]} to the right`}
                    onMove={() => onChange(moveColumn(columns, name, 1))}
                  >
                    <DownIcon size={14} />
                  </Move>
                </li>
              ))}
            </ul>
            {others.length > 0 ? (
              <>
                <hr className="-mx-1 my-1 h-px border-0 bg-line" />
                <Heading>Not shown</Heading>
                <ul>
                  {others.map((name) => (
                    <li className="flex items-center rounded-md hover:bg-hover" key={name}>
                      <Choice isShown={false} name={name} onChange={() => onChange([...columns, name])} />
                    </li>
                  ))}
                </ul>
              </>
            ) : null}
            <hr className="-mx-1 my-1 h-px border-0 bg-line" />
            <Button
              className="justify-start"
              disabled={writeColumns(columns) === null}
              look="quiet"
              onClick={() => onChange(USUAL_COLUMNS)}
            >
              Reset
            </Button>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

const Heading = ({ children }: { children: ReactNode }) => (
  <h2 className="px-2 pt-1.5 pb-1 font-normal text-muted text-xs">{children}</h2>
);

type ChoiceProps = { name: ColumnName; isShown: boolean; onChange: () => void };

const Choice = ({ name, isShown, onChange }: ChoiceProps) => (
  <label className="flex h-8 min-w-0 flex-1 cursor-pointer items-center gap-2 px-2">
    <input checked={isShown} className="size-3.5 accent-accent" onChange={onChange} type="checkbox" />
    {HEADS[name]}
  </label>
);

type MoveProps = { label: string; isAtEnd: boolean; onMove: () => void; children: ReactNode };

/** Keeps the focus at the end, where it has no effect. */
const Move = ({ label, isAtEnd, onMove, children }: MoveProps) => (
  <button
    aria-disabled={isAtEnd}
    aria-label={label}
    className={clsx(
      "flex size-6 items-center justify-center rounded",
      isAtEnd ? "cursor-default opacity-40" : "text-muted hover:bg-pressed hover:text-ink",
    )}
    onClick={onMove}
    title={label}
    type="button"
  >
    {children}
  </button>
);
