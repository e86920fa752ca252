"use client";

import { useState } from "react";
import { Moment } from "@/app/_ui/time";
import { isTerminal } from "@/server/contract/enums";
import type { RunDetail } from "@/server/runs/read/inspect";
import { QueuedFor } from "../../started";
import { HeaderFact } from "./fact";

/** A run that started sooner after its creation shows one time only. */
const AT_ONCE_MS = 1_000;

/**
 * When a run started and ended, and when it was created if that was earlier. `reserve` keeps space for times that are
 * still to come, so that nothing moves.
 */
export function RunTimes({
  run: { createdAt, startedAt, finishedAt, status },
  reserve,
}: {
  run: Pick<RunDetail, "createdAt" | "startedAt" | "finishedAt" | "status">;
  reserve: boolean;
}) {
  // If the page opened on a queued run, it keeps showing the creation time.
  const [wasQueued] = useState(startedAt === null);
  const waitedMs = startedAt === null ? null : Date.parse(startedAt) - Date.parse(createdAt);
  const showsCreated = wasQueued || waitedMs === null || waitedMs >= AT_ONCE_MS;
  const before = showsCreated ? { after: createdAt } : {};
  return (
    <>
      {showsCreated ? (
        <HeaderFact name="Created" named>
          <Moment at={createdAt} />
        </HeaderFact>
      ) : null}
      {startedAt !== null ? (
        <HeaderFact className={showsCreated && reserve ? BEGINNING : ""} name="Started" named>
          <Moment at={startedAt} {...before} />
        </HeaderFact>
      ) : isTerminal(status) ? (
        <HeaderFact name="Started" named>
          never
        </HeaderFact>
      ) : (
        <HeaderFact className={BEGINNING} name="Started">
          <QueuedFor since={createdAt} />
        </HeaderFact>
      )}
      <HeaderFact className={reserve ? END : ""} name="Finished" named>
        {finishedAt === null ? "—" : <Moment after={startedAt ?? createdAt} at={finishedAt} />}
      </HeaderFact>
    </>
  );
}

/** At least as wide as `started 00:00:00` and `finished 00:00:00` in any font. */
const BEGINNING = "min-w-[16ch]";
const END = "min-w-[17ch]";
