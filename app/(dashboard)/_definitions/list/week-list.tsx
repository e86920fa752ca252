import type { ReactNode } from "react";
import { Empty } from "@/app/_ui/page/page";
import { RowName } from "@/app/_ui/row-name";
import { type LineColumn, LineList } from "@/app/_ui/table";
import type { WeekFigures } from "@/server/runs/read/metrics/metrics";
import { type ListView, viewLines, weekColumns } from "./columns";
import { ListSearch } from "./list-search";
import { WeekTotal } from "./week-total";

type WeekListProps<Item> = {
  kind: "Agent" | "Tool" | "Trigger";
  items: readonly Item[];
  view: ListView;
  badges: (item: Item) => ReactNode;
  about: LineColumn<Item>;
  last: LineColumn<Item>;
};

export function WeekList<Item extends { id: string; slug: string; name: string; week: WeekFigures | null }>({
  kind,
  items,
  view,
  badges,
  about,
  last,
}: WeekListProps<Item>) {
  const what = `${kind.toLowerCase()}s`;
  const shown = viewLines(items, view);
  const name: LineColumn<Item> = {
    head: kind,
    area: "line",
    cell: (item) => (
      <RowName href={`/${what}/${item.id}`} name={item.name} slug={item.slug}>
        {badges(item)}
      </RowName>
    ),
  };
  return (
    <>
      <WeekTotal lines={items} />
      <ListSearch {...view} shown={shown.length} total={items.length} what={what} />
      <LineList
        columns={[name, about, ...weekColumns(`/${what}`, view), last]}
        keyOf={({ id }) => id}
        label={`${kind}s`}
        lines={shown}
      />
      {shown.length === 0 ? <Empty title={`No ${what} found`} /> : null}
    </>
  );
}
