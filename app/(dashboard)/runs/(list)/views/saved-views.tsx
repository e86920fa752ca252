import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { ViewIcon } from "@/app/_ui/icons";
import { lazy } from "@/app/_ui/lazy";
import { MenuItem, MoreMenu } from "@/app/_ui/menu/menu";
import { useDialog } from "@/app/_ui/use-dialog";
import type { SavedView } from "@/server/catalog/organization/saved-views";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { isPlain, readFilter, writeFilter } from "../../address";
import { type ColumnName, readColumns, writeColumns } from "../columns/column-choice";

const RenameView = lazy(() => import("./view-dialogs"), "RenameView");
const RemoveView = lazy(() => import("./view-dialogs"), "RemoveView");
const SaveView = lazy(() => import("./view-dialogs"), "SaveView");

type Shown = { filter: RunFilter; columns: readonly ColumnName[] };
/** Without columns, they stay. */
type Chosen = Pick<Shown, "filter"> & Partial<Shown>;

const shownBy = ({ query, columns }: Pick<SavedView, "query" | "columns">): Shown => ({
  filter: readFilter(new URLSearchParams(query)).filter,
  columns: readColumns(columns ?? undefined),
});
const keyOf = ({ filter, columns }: Shown) => `${writeFilter(filter)} ${writeColumns(columns)}`;

function useViews(shown: Shown): { views: SavedView[]; current: SavedView | undefined } {
  const { data: views = [] } = useQuery(useTRPC().views.list.queryOptions());
  return { views, current: views.find((view) => keyOf(shownBy(view)) === keyOf(shown)) };
}

/** The person's saved views as links. Nothing without one. */
export function SavedViews({ shown, onChoose }: { shown: Shown; onChoose: (view: Chosen) => void }) {
  const { views, current } = useViews(shown);
  const { open, dialog } = useDialog();
  if (views.length === 0) return dialog;
  const pill = (name: string, view: Chosen, isCurrent: boolean) => (
    <a
      aria-current={isCurrent ? "true" : undefined}
      className={clsx(
        "inline-flex h-8 max-w-60 shrink-0 items-center rounded-md px-2.5",
        isCurrent ? "bg-selected font-medium" : "text-muted hover:bg-hover hover:text-ink",
      )}
      href={`/runs${writeFilter(view.filter)}`}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        onChoose(view);
      }}
    >
      <span className="truncate">{name}</span>
    </a>
  );
  return (
    <div className="flex items-center gap-1 px-4 pb-2 sm:px-6">
      <nav aria-label="Saved views" className="-ml-2.5 min-w-0">
        <ul className="flex items-center gap-0.5 overflow-x-auto">
          <li className="flex">{pill("All runs", { filter: PLAIN }, !current && isPlain(shown.filter))}</li>
          {views.map((view) => (
            <li className="flex" key={view.id}>
              {pill(view.name, shownBy(view), view === current)}
            </li>
          ))}
        </ul>
      </nav>
      {current ? (
        <MoreMenu label={`Change the view ${current.name}`} quiet>
          <MenuItem onClick={() => open(<RenameView view={current} />)}>Rename</MenuItem>
          <MenuItem danger onClick={() => open(<RemoveView view={current} />)}>
            Delete
          </MenuItem>
        </MoreMenu>
      ) : null}
      {dialog}
    </div>
  );
}

const PLAIN: RunFilter = { source: "outside" };

/** Saves the filter and the columns. Nothing while they are all runs, or a view already. */
export function SaveViewButton({ shown }: { shown: Shown }) {
  const { current } = useViews(shown);
  const { open, dialog } = useDialog();
  if (current || isPlain(shown.filter)) return dialog;
  const { filter, columns } = shown;
  return (
    <>
      <Button
        className="max-md:hidden"
        look="quiet"
        onClick={() => open(<SaveView columns={writeColumns(columns)} query={writeFilter(filter)} />)}
      >
        <ViewIcon />
        Save view
      </Button>
      {dialog}
    </>
  );
}
