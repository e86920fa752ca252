"use client";

import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { CodeField } from "@/app/_ui/editor/code-field";
import { Choice, OptionField, TextareaField, TextField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import type { ScheduleDetail } from "@/server/catalog/schedules/inspect-schedules";
import { TargetField } from "../../_definitions/target-field";
import { rename } from "../../_editor/slug";
import { NextTimes } from "../next-times";
import { draftOf, NEW_SCHEDULE, readDraft, type ScheduleDraft } from "./schedule-draft";

const LABELS = {
  "/name": "Name",
  "/slug": "Slug",
  "/agent": "Target",
  "/tool": "Target",
  "/message": "Message",
  "/input": "Input",
  "/cron": "Cron expression",
  "/timeZone": "Time zone",
  "/overlap": "If the earlier run is still open",
  "/catchUpSeconds": "Catch up within",
  "/jitterSeconds": "Delay by up to",
};

const OVERLAPS = [
  { value: "skip", label: "Skip this time" },
  { value: "queue", label: "Queue one start" },
  { value: "allow", label: "Start anyway" },
] as const;

const ZONES = "time-zones";

export function ScheduleForm({ schedule = null }: { schedule?: ScheduleDetail | null }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const form = useForm(
    {
      mutationFn: (draft: ScheduleDraft) => {
        const { definition } = readDraft(draft);
        const { create, update } = client.schedules;
        if (schedule === null) return create.mutate(definition);
        return update.mutate({ ...definition, replaces: schedule.facts });
      },
    },
    {
      draft: schedule === null ? NEW_SCHEDULE : draftOf(schedule),
      labels: LABELS,
      refresh: [trpc.schedules],
      done: () => (schedule === null ? "Schedule created" : "Schedule saved"),
    },
  );
  const { draft, change, errorAt } = form;
  const bind = <Name extends keyof ScheduleDraft>(name: Name, pointer: keyof typeof LABELS) => ({
    label: LABELS[pointer],
    value: draft[name],
    error: errorAt(pointer),
    onChange: (value: ScheduleDraft[Name]) => change({ [name]: value }),
  });
  return (
    <FormDialog
      {...form.dialog}
      act={schedule === null ? "Create schedule" : "Save"}
      acting={schedule === null ? "Creating" : "Saving"}
      onSubmit={() => form.send(draft, readDraft(draft).issues)}
      title={schedule === null ? "New schedule" : `Edit ${schedule.name}`}
      wide
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          {...bind("name", "/name")}
          autoFocus
          maxLength={200}
          onChange={(name) => change(schedule === null ? rename(draft, name) : { name })}
        />
        <TextField
          {...bind("slug", "/slug")}
          hint={schedule ? "Its name in YAML." : "Its name in YAML. It cannot be changed later."}
          maxLength={64}
          readOnly={schedule !== null}
        />
      </div>
      <TargetField {...bind("target", "/agent")} error={errorAt("/agent") ?? errorAt("/tool")} />
      {draft.target.startsWith("tool/") ? (
        <CodeField {...bind("input", "/input")} hint="The tool's input, a JSON object." language="json" />
      ) : (
        <TextareaField {...bind("message", "/message")} hint="What the agent is told." />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          {...bind("cron", "/cron")}
          code
          hint="Minute, hour, day, month, weekday. L is the last day of the month."
        />
        <TextField {...bind("timeZone", "/timeZone")} list={ZONES} />
        <datalist id={ZONES}>
          {["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </div>
      <NextTimes cron={draft.cron} timeZone={draft.timeZone} />
      <OptionField {...bind("overlap", "/overlap")} options={OVERLAPS} />
      <div className="grid grid-cols-2 gap-4">
        <TextField
          {...bind("catchUpMinutes", "/catchUpSeconds")}
          hint="Minutes. If no process was up for longer, the time is missed."
          inputMode="decimal"
        />
        <TextField
          {...bind("jitterSeconds", "/jitterSeconds")}
          hint="Seconds. Spreads the starts of many schedules."
          inputMode="numeric"
        />
      </div>
      <Choice checked={!draft.paused} onChange={(active) => change({ paused: !active })}>
        Active <span className="text-muted">(a paused schedule starts nothing)</span>
      </Choice>
    </FormDialog>
  );
}
