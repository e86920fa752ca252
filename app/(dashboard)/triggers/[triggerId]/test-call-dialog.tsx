"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { TextareaField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { Link } from "@/app/_ui/link";
import type { TriggerDetail } from "@/server/webhooks/inspect-trigger";

/** Sends a signed call to the trigger and shows what a sender would get. */
export function TestCallDialog({ trigger, onClose }: { trigger: TriggerDetail; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [body, setBody] = useState(trigger.exampleBody);
  const send = useMutation(
    trpc.triggers.sendTest.mutationOptions({
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.triggers.deliveries.pathKey() }),
    }),
  );
  return (
    <FormDialog
      act="Send"
      acting="Sending"
      mutation={send}
      dismiss={send.data ? "Done" : "Cancel"}
      onClose={onClose}
      onSubmit={() => send.mutate({ triggerId: trigger.id, body })}
      title="Send a test call"
      wide
    >
      <TextareaField
        hint={`Sent as JSON${trigger.secrets.length > 0 ? ", signed with the newest secret" : ""}. It starts a run of ${trigger.target.name}, which uses credits.`}
        label="Body"
        maxLength={100_000}
        onChange={setBody}
        value={body}
      />
      <div aria-live="polite">
        {send.data ? (
          send.data.problem ? (
            <p className="rounded-md bg-failed-wash px-2.5 py-2 text-failed [overflow-wrap:anywhere]">
              Refused with status {send.data.status}: {send.data.problem.message}{" "}
              <span className="mono">{send.data.problem.code}</span>
            </p>
          ) : (
            <p className="rounded-md border border-line bg-surface px-2.5 py-2">
              Accepted with status {send.data.status}.{" "}
              <Link className="text-accent underline" href={`/runs/${send.data.runId}`}>
                Open the run
              </Link>
            </p>
          )
        ) : null}
      </div>
    </FormDialog>
  );
}
