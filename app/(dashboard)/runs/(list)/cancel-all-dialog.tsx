import { useQuery } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { ConfirmDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import { OPEN_LISTED_STATUSES } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { describeCancelled } from "./selection";

const MAX_COUNTED = 100;

const TITLE = "Cancel all open runs";

function countLabel(count: number): string {
  if (count >= MAX_COUNTED) return `${MAX_COUNTED} or more runs are`;
  return count === 1 ? "1 run is" : `${count} runs are`;
}

type Client = ReturnType<typeof useTRPCClient>;

async function cancelMatching(
  client: Client,
  filter: RunFilter,
  before: string | null = null,
): Promise<number> {
  const { found, next } = await client.runs.cancelMatching.mutate({ filter, before });
  return next === null ? found : found + (await cancelMatching(client, filter, next));
}

/** Confirms, then cancels every open run that matches the filter. */
export function CancelAllDialog({ filter, onClose }: { filter: RunFilter; onClose: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { dialog, send } = useForm(
    { mutationFn: (matching: RunFilter) => cancelMatching(client, matching) },
    { draft: {}, refresh: [trpc.runs.list], done: describeCancelled, onClose },
  );
  const status = OPEN_LISTED_STATUSES.filter(
    (each) => !filter.status?.length || filter.status.includes(each),
  );
  const open = useQuery({
    ...trpc.runs.ids.queryOptions({ filter: { ...filter, status }, after: null, limit: MAX_COUNTED }),
    enabled: status.length > 0,
    staleTime: 0,
  });
  const count = status.length === 0 ? 0 : open.data?.length;
  const filtered = Object.keys(filter).length > 0;
  if (count === 0)
    return (
      <Dialog onClose={onClose} title={TITLE}>
        <p>{filtered ? "No run that matches the filters is open." : "No run is open."}</p>
        <DialogActions>
          <Button onClick={onClose}>Close</Button>
        </DialogActions>
      </Dialog>
    );
  return (
    <ConfirmDialog
      {...dialog}
      act="Cancel runs"
      acting="Cancelling"
      dismiss="Keep runs"
      onConfirm={() => send(filter)}
      problem={dialog.problem && `Not all runs could be cancelled. ${dialog.problem}`}
      title={TITLE}
    >
      <p>
        {count === undefined ? null : `${countLabel(count)} open. `}
        {filtered
          ? "All pending and running runs that match the filters are cancelled, including those further down the list."
          : "All pending and running runs of this organization are cancelled."}{" "}
        What they used so far is charged.
      </p>
    </ConfirmDialog>
  );
}
