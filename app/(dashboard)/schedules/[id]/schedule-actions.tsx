"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { ConfirmDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import { lazy } from "@/app/_ui/lazy";
import { MenuItem, MenuSeparator, MoreMenu } from "@/app/_ui/menu/menu";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import { notify } from "@/app/_ui/toast";
import { useDialog } from "@/app/_ui/use-dialog";
import type { ScheduleDetail } from "@/server/catalog/schedules/inspect-schedules";

const ScheduleForm = lazy(() => import("../_form/schedule-form"), "ScheduleForm");

/** The actions of members on a schedule. Viewers see nothing. */
export function ScheduleActions({ schedule }: { schedule: ScheduleDetail }) {
  const trpc = useTRPC();
  const mayChange = useMay("member");
  const { dialog, open } = useDialog();
  const isPaused = schedule.pausedAt !== null;
  // Immediately: the same button undoes it.
  const setPaused = useMutation(
    trpc.schedules.setPaused.mutationOptions({
      meta: { refresh: [trpc.schedules.pathKey()] },
      onSuccess: (_, { paused }) => {
        if (paused) notify(`${schedule.name} is paused`, "Nothing starts until you resume it.");
        else notify(`${schedule.name} continues with its next time`);
      },
      onError: (error) => notify("Could not change the schedule", describeError(error).message),
    }),
  );
  const edit = () => open(<ScheduleForm schedule={schedule} />);
  const run = () => open(<RunNowDialog schedule={schedule} />);
  usePageActions(
    mayChange
      ? [
          { label: "Run the schedule now", run },
          { label: "Edit the schedule", run: edit },
        ]
      : [],
  );
  if (!mayChange) return null;
  return (
    <>
      <Button
        disabled={setPaused.isPending}
        onClick={() => setPaused.mutate({ id: schedule.id, paused: !isPaused })}
      >
        {isPaused ? "Resume" : "Pause"}
      </Button>
      <Button look="primary" onClick={run}>
        Run now
      </Button>
      <MoreMenu label="More">
        <MenuItem onClick={edit}>Edit</MenuItem>
        <MenuSeparator />
        <MenuItem danger onClick={() => open(<DeleteScheduleDialog schedule={schedule} />)}>
          Delete
        </MenuItem>
      </MoreMenu>
      {dialog}
    </>
  );
}

type DialogProps = { schedule: ScheduleDetail };

function RunNowDialog({ schedule }: DialogProps) {
  const trpc = useTRPC();
  const router = useRouter();
  const form = useForm(trpc.schedules.runNow.mutationOptions(), {
    draft: {},
    done: ({ runId }) => {
      router.push(`/runs/${runId}`);
      return null;
    },
  });
  return (
    <ConfirmDialog
      {...form.dialog}
      act="Run now"
      acting="Starting"
      onConfirm={() => form.send({ scheduleId: schedule.id })}
      title={`Run ${schedule.name} now`}
    >
      <p>It starts a run of {schedule.target.name}, which uses credits. The next time stays.</p>
    </ConfirmDialog>
  );
}

function DeleteScheduleDialog({ schedule }: DialogProps) {
  const trpc = useTRPC();
  const router = useRouter();
  const form = useForm(trpc.schedules.remove.mutationOptions(), {
    draft: {},
    refresh: [trpc.schedules.list],
    done: () => {
      router.push("/schedules");
      return `The schedule ${schedule.name} is deleted`;
    },
  });
  return (
    <ConfirmDialog
      {...form.dialog}
      act="Delete schedule"
      acting="Deleting"
      onConfirm={() => form.send({ slug: schedule.slug })}
      title={`Delete ${schedule.name}`}
    >
      <p>It starts nothing from now on. Its runs stay.</p>
      <p className="text-muted">Pause it instead to continue later.</p>
    </ConfirmDialog>
  );
}
