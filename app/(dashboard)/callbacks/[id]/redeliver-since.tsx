"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTimeZone } from "@/app/_ui/data/clock";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { formatPlural } from "@/app/_ui/figures/format";
import { readZonedTime, writeZonedTime } from "@/app/_ui/figures/zoned-time";
import { useMay } from "@/app/_ui/role";
import { notify } from "@/app/_ui/toast";

/** Sends again what a callback did not get since a time, for members. */
export function RedeliverSince({ callbackId, since }: { callbackId: string; since: string }) {
  const trpc = useTRPC();
  const mayAct = useMay("member");
  const timeZone = useTimeZone();
  const [typed, setTyped] = useState<string | null>(null);
  const redeliver = useMutation(
    trpc.callbacks.redeliverFailed.mutationOptions({
      meta: { refresh: [trpc.callbacks.pathKey()] },
      onSuccess: ({ deliveries }) => void notify(`${formatPlural(deliveries, "event")} will be sent again`),
      onError: (error) => void notify("Could not redeliver", describeError(error).message),
    }),
  );
  if (!mayAct) return null;
  const shown = typed ?? writeZonedTime(new Date(since), timeZone);
  const from = readZonedTime(shown, timeZone);
  return (
    <>
      <label className="flex items-center gap-2">
        <span className="text-muted">Failed since</span>
        <input
          className="h-8 rounded-md border border-input-line bg-canvas px-2"
          onChange={(event) => setTyped(event.target.value)}
          type="datetime-local"
          value={shown}
        />
      </label>
      <Button
        disabled={redeliver.isPending || from === null}
        look="primary"
        onClick={() => from && redeliver.mutate({ callbackId, since: from.toISOString() })}
      >
        {redeliver.isPending ? "Redelivering" : "Redeliver"}
      </Button>
    </>
  );
}
