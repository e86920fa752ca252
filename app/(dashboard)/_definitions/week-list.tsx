import type { ReactNode } from "react";
import { Empty } from "@/app/_ui/page/page";
import { type Column, List, ListCell, ListRow, RowName } from "@/app/_ui/table";
import type { WeekFigures } from "@/server/runs/read/metrics/metrics";
import { ListSearch } from "./list-search";
import { type ListView, viewLines, WeekCells, weekColumns } from "./week";
import { WeekTotal } from "./week-total";

type Line = { id: string; slug: string; name: string; week: WeekFigures | null };

type WeekListProps<Item extends Line> = {
  kind: "Agent" | "Tool" | "Trigger";
  items: readonly Item[];
  view: ListView;
  /** Shown beside the name. */
  badges: (item: Item) => ReactNode;
  /** The second column, with its own cell. */
  about: { column: Column; cell: (item: Item) => ReactNode };
  last: { column: Column; content: (item: Item) => ReactNode };
};

/** Agents, tools or triggers: their figures of the last seven days, a search, and a row for each. */
export function WeekList<Item extends Line>({ kind, items, view, badges, about, last }: WeekListProps<Item>) {
  const what = `${kind.toLowerCase()}s`;
  const path = `/${what}`;
  const shown = viewLines(items, view);
  return (
    <>
      <WeekTotal lines={items} />
      <ListSearch {...view} shown={shown.length} total={items.length} what={what} />
      <List columns={[[kind], about.column, ...weekColumns(path, view), last.column]} label={`${kind}s`}>
        {shown.map((item) => (
          <ListRow key={item.id}>
            <ListCell area="line">
              <RowName href={`${path}/${item.id}`} name={item.name} slug={item.slug}>
                {badges(item)}
              </RowName>
            </ListCell>
            {about.cell(item)}
            <WeekCells week={item.week} />
            <ListCell className="whitespace-nowrap" area="share">
              {last.content(item)}
            </ListCell>
          </ListRow>
        ))}
      </List>
      {shown.length === 0 ? <Empty title={`No ${what} found`} /> : null}
    </>
  );
}
