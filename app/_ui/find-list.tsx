"use client";

import { Autocomplete } from "@base-ui/react/autocomplete";
import type { ReactNode } from "react";
import { SearchIcon } from "./icons";

type Group<Item> = { name: string; items: Item[] };

/** A combobox of grouped entries. The caller passes the groups that match the text. Enter takes the marked entry. */
export function FindList<Item extends { id: string; label: string }>({
  label,
  placeholder,
  groups,
  text,
  onText,
  onTake,
  end,
  nothing,
  below,
  children,
}: {
  label: string;
  placeholder: string;
  groups: Group<Item>[];
  text: string;
  onText: (text: string) => void;
  onTake: (item: Item, withModifier: boolean) => void;
  end?: ReactNode;
  nothing: ReactNode;
  below?: ReactNode;
  children: (item: Item) => ReactNode;
}) {
  return (
    <Autocomplete.Root
      autoHighlight="always"
      filter={null}
      inline
      items={groups}
      itemToStringValue={(item: Item) => item.label}
      keepHighlight
      onValueChange={(value, { reason }) => {
        if (reason !== "item-press") onText(value);
      }}
      open
      value={text}
    >
      <div className="flex h-11 shrink-0 items-center gap-2.5 border-line border-b px-3">
        <SearchIcon className="shrink-0 text-muted" />
        <Autocomplete.Input
          aria-label={label}
          autoFocus
          className="h-full min-w-0 flex-1 bg-transparent outline-none placeholder:text-faint focus-visible:outline-none"
          placeholder={placeholder}
        />
        {end}
      </div>
      <div className="min-h-0 overflow-y-auto overscroll-contain">
        <Autocomplete.Empty>{nothing}</Autocomplete.Empty>
        <Autocomplete.List className="p-1 empty:hidden">
          {(group: Group<Item>) => (
            <Autocomplete.Group items={group.items} key={group.name}>
              <Autocomplete.GroupLabel className="px-2 pt-2 pb-1 text-muted text-xs">
                {group.name}
              </Autocomplete.GroupLabel>
              <Autocomplete.Collection>
                {(item: Item) => (
                  <Autocomplete.Item
                    className="flex min-h-8.5 cursor-pointer select-none scroll-my-1 items-center gap-2.5 rounded-md px-2 py-1 outline-none data-[highlighted]:bg-selected"
                    key={item.id}
                    onClick={(event) => onTake(item, event.metaKey || event.ctrlKey)}
                    value={item}
                  >
                    {children(item)}
                  </Autocomplete.Item>
                )}
              </Autocomplete.Collection>
            </Autocomplete.Group>
          )}
        </Autocomplete.List>
        {below}
      </div>
    </Autocomplete.Root>
  );
}
