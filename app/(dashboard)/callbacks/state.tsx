"use client";

import clsx from "clsx";
import type { ReactNode } from "react";
import { StatusShape } from "@/app/_ui/figures/status";
import { Day, Moment } from "@/app/_ui/figures/time";
import type { CallbackLine } from "@/server/catalog/callbacks/list-callbacks";

type Health = Pick<CallbackLine, "disabledAt" | "failingSince">;

export function CallbackState({ disabledAt, failingSince }: Health) {
  if (disabledAt !== null) {
    return (
      <span className="inline-flex items-center gap-1.5 whitespace-nowrap text-cancelled">
        <StatusShape status="Cancelled" />
        <span>
          <span className="font-medium">Disabled</span> <Day at={disabledAt} />
        </span>
      </span>
    );
  }
  const failing = failingSince !== null;
  return (
    <span
      className={clsx(
        "inline-flex items-center gap-1.5 whitespace-nowrap font-medium",
        failing ? "text-failed" : "text-completed",
      )}
    >
      <StatusShape status={failing ? "Failed" : "Completed"} />
      {failing ? "Failing" : "Healthy"}
    </span>
  );
}

/** A callback that fails, or that was disabled for it; null for others. */
export function FailureLine({
  callback: { name, disabledAt, failingSince, waiting },
  children,
}: {
  callback: Pick<CallbackLine, "name" | "disabledAt" | "failingSince" | "waiting">;
  children: ReactNode;
}) {
  if (failingSince === null) return null;
  const waits = waiting === 1 ? "1 event waits." : `${waiting.toLocaleString("en")} events wait.`;
  return (
    <div
      className={clsx(
        "flex flex-wrap items-center gap-x-3 gap-y-2 border-line border-t px-4 py-2.5 sm:px-6",
        disabledAt === null ? "bg-waiting-wash" : "bg-failed-wash",
      )}
    >
      <div className="min-w-0 flex-1 basis-80">
        <p className="font-medium">
          {disabledAt === null ? (
            <>
              {name} fails since <Moment at={failingSince} />. {waits}
            </>
          ) : (
            <>
              {name} is disabled since <Moment at={disabledAt} />. {waits}
            </>
          )}
        </p>
        <p className="text-muted">
          {disabledAt === null
            ? "If nothing arrives for three days, it is disabled and the admins get an email."
            : "Nothing arrived for three days. Test it, turn it on and redeliver what it did not get."}
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-2">{children}</div>
    </div>
  );
}

const HOURS = 24;

/** The deliveries of 24 hours, one bar each; red if some did not arrive. */
export function HourBars({ callback: { hours }, tall = false }: { callback: CallbackLine; tall?: boolean }) {
  const most = Math.max(1, ...hours.map(({ all }) => all));
  const byHour = new Map(hours.map((each) => [each.hour, each]));
  const height = tall ? 88 : 18;
  const undelivered = hours.reduce((sum, { all, delivered }) => sum + all - delivered, 0);
  const total = hours.reduce((sum, { all }) => sum + all, 0);
  return (
    <svg
      aria-label={`Events of 24 hours: ${total}, not delivered: ${undelivered}`}
      className="w-full max-w-full"
      height={height}
      preserveAspectRatio="none"
      role="img"
      viewBox={`0 0 ${HOURS * 6} ${height}`}
    >
      {Array.from({ length: HOURS }, (_, hour) => {
        const { all = 0, delivered = 0 } = byHour.get(hour) ?? {};
        const size = all === 0 ? 2 : tall ? Math.max(3, (all / most) * height) : height;
        const failed = all === 0 ? 0 : ((all - delivered) / all) * size;
        const at = { x: hour * 6 + 0.5, width: 4.6 };
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the hour is the key.
          <g key={hour}>
            <rect
              {...at}
              className={all === 0 ? "fill-line-strong" : "fill-completed"}
              height={size}
              y={height - size}
            />
            {failed > 0 ? <rect {...at} className="fill-failed" height={failed} y={height - failed} /> : null}
          </g>
        );
      })}
    </svg>
  );
}

/** Delivered events of 24 hours, of all. */
export function DeliveredOf({ callback: { hours } }: { callback: CallbackLine }) {
  const all = hours.reduce((sum, each) => sum + each.all, 0);
  const delivered = hours.reduce((sum, each) => sum + each.delivered, 0);
  if (all === 0) return <span className="text-faint">–</span>;
  return (
    <>
      {delivered.toLocaleString("en")} <span className="text-muted">of {all.toLocaleString("en")}</span>
    </>
  );
}
