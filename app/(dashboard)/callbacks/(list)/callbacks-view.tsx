"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { buttonClass } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatDuration } from "@/app/_ui/figures/format";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-actions";
import { RowName } from "@/app/_ui/row-name";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { useDialog } from "@/app/_ui/use-dialog";
import type { CallbackLine } from "@/server/catalog/callbacks/list-callbacks";
import { describeEvents } from "../describe-events";
import { REFRESH_MS } from "../query";
import { CallbackState, DeliveredOf, FailureLine, HourBars } from "../state";
import { LastFailures } from "./last-failures";

const CallbackForm = lazy(() => import("../_form/callback-form"), "CallbackForm");

export function CallbacksView() {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery({
    ...trpc.callbacks.list.queryOptions(),
    refetchInterval: REFRESH_MS,
  });
  const { dialog, open } = useDialog();
  const newCallback = { label: "New callback", needs: "admin", to: () => open(<CallbackForm />) } as const;
  const guide = (
    <Link className={buttonClass()} href="/docs/callbacks">
      Guide: callbacks
    </Link>
  );
  return (
    <>
      <PageHead title="Callbacks">
        <Link className={buttonClass("plain", "max-md:hidden")} href="/docs/callbacks#verify-the-signature">
          Verify a signature
        </Link>
        <PageButton {...newCallback} otherwise="Admins and owners create callbacks." />
      </PageHead>
      {data.callbacks.map((callback) => (
        <FailureLine callback={callback} key={callback.id}>
          <Link className={buttonClass()} href={`/callbacks/${callback.id}`}>
            Open {callback.name}
          </Link>
        </FailureLine>
      ))}
      <LineList
        columns={COLUMNS}
        empty={
          <Empty title="No callbacks yet">
            <p>
              Stepwell can tell your systems when a run ends or waits, credits run low or a schedule misses a
              time, so that they don't have to ask.
            </p>
            <span className="flex flex-wrap gap-2">
              <PageButton {...newCallback} />
              {guide}
            </span>
          </Empty>
        }
        keyOf={keyOf}
        label="Callbacks"
        lines={data.callbacks}
      />
      {data.callbacks.length > 0 ? <LastFailures /> : null}
      {dialog}
    </>
  );
}

const keyOf = ({ id }: CallbackLine) => id;

const COLUMNS: LineColumn<CallbackLine>[] = [
  {
    head: "Callback",
    area: "line",
    cell: ({ id, name, url }) => (
      <RowName href={`/callbacks/${id}`} name={name}>
        <span className="mono min-w-0 shrink-[9999] truncate text-muted">
          {url ?? "the X-Callback-Url of each start"}
        </span>
      </RowName>
    ),
  },
  {
    head: "Events",
    width: "w-[20%]",
    area: "wide",
    look: "cut",
    cell: (callback) => describeEvents(callback),
  },
  {
    head: "Last 24 hours",
    width: "w-40",
    area: "wide",
    cell: (callback) => <HourBars callback={callback} />,
  },
  {
    head: "Delivered",
    width: "w-36",
    area: "last",
    look: "figure",
    cell: (callback) => <DeliveredOf callback={callback} />,
  },
  {
    head: "Answer p95",
    width: "w-28",
    area: "wider",
    look: "figure",
    cell: ({ p95Ms }) => <span className="text-muted">{p95Ms === null ? "–" : formatDuration(p95Ms)}</span>,
  },
  {
    head: "State",
    width: "w-52",
    area: "share",
    look: "line",
    cell: (callback) => <CallbackState {...callback} />,
  },
];

export const CallbacksSkeleton = () => (
  <LineList columns={COLUMNS} keyOf={keyOf} label="Callbacks" lines={null} />
);
