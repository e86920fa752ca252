"use client";

import { useState } from "react";
import { Moment } from "@/app/_ui/time";
import { isTerminal } from "@/server/runs/read/enums";
import type { RunDetail } from "@/server/runs/read/inspect";
import { QueuedFor } from "../../started";
import { HeaderFact } from "./fact";

/** A run that began within this time of its creation began at once: one moment says both. */
const AT_ONCE_MS = 1_000;

/**
 * When a run began and ended, and when it was created if that was earlier. With `reserve`, what is still to come has its
 * place already, so that nothing moves when it does.
 */
export function RunTimes({
  run: { createdAt, startedAt, finishedAt, status },
  reserve,
}: {
  run: Pick<RunDetail, "createdAt" | "startedAt" | "finishedAt" | "status">;
  reserve: boolean;
}) {
  // A page that was opened on a queued run keeps the moment of its creation, however soon it began.
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

/** Not narrower than `started 00:00:00` and `finished 00:00:00`, whatever the font. */
const BEGINNING = "min-w-[16ch]";
const END = "min-w-[17ch]";
