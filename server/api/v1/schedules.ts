import { z } from "zod";
import { endpoint, idParameter } from "@/server/api/endpoint";
import { scheduleChanges } from "@/server/catalog/changes-by-key";
import { listScheduleLines, readSchedule } from "@/server/catalog/schedules/read-schedules";
import { RUN_KINDS } from "@/server/contract/enums";
import { changeEndpoints, createEndpoint, definition } from "./change-definitions";
import { exampleAgentId, exampleTimes, LISTED, named, READ, times } from "./definitions";
import { id } from "./filters";
import { listEndpoint } from "./list";

const line = z
  .object({
    ...named,
    kind: z.enum(RUN_KINDS).meta({ description: "What it starts" }),
    targetId: z.uuid().meta({ description: "The agent or tool" }),
    cron: z.string(),
    timeZone: z.string(),
    paused: z.boolean(),
    nextAt: z.iso
      .datetime({ precision: 3 })
      .nullable()
      .meta({ description: "The next time; null: it is paused, or there is none" }),
    ...times,
  })
  .meta({ id: "ScheduleListItem" });

const exampleLine = {
  id: "019aa5c0-3e28-7fa1-b5d7-2c4e6a8b0d32",
  slug: "morning",
  name: "morning",
  kind: "agent" as const,
  targetId: exampleAgentId,
  cron: "0 8 * * MON-FRI",
  timeZone: "Europe/Berlin",
  paused: false,
  nextAt: "2026-11-23T07:00:00.000Z",
  ...exampleTimes,
};

const schedule = {
  tag: "Schedules",
  name: "schedule",
  path: "/v1/schedules",
  view: line.extend({ definition }).meta({ id: "Schedule" }),
  example: {
    ...exampleLine,
    definition: {
      slug: "morning",
      agent: "helper",
      cron: exampleLine.cron,
      timeZone: exampleLine.timeZone,
      message: "Summarize the night.",
    },
  },
  changes: scheduleChanges,
  state: ["nextAt"],
} as const;

export const schedules = {
  list: listEndpoint({
    ...LISTED,
    tag: "Schedules",
    path: "/v1/schedules",
    operationId: "listSchedules",
    summary: "List schedules",
    description:
      "The organization's schedules by slug. A key that is limited to agents and tools gets only theirs.",
    id: "ScheduleList",
    item: line,
    filters: { target: id("target", "Only schedules of this agent or tool") },
    example: { item: exampleLine },
    list: (services, actor, { filters, page }) => listScheduleLines(services, actor, { ...filters, ...page }),
  }),
  get: endpoint({
    ...READ,
    tag: "Schedules",
    path: "/v1/schedules/{scheduleId}",
    operationId: "getSchedule",
    summary: "Read a schedule",
    description: "The definition of a schedule, as definition files have it, and its next time.",
    input: z.object({ scheduleId: idParameter("scheduleId", "schedule") }),
    answer: schedule.view,
    state: schedule.state,
    example: { response: schedule.example },
    run: ({ services, actor, input: { scheduleId } }) => readSchedule(services, actor, scheduleId),
  }),
  create: createEndpoint({
    kind: schedule,
    create: async (services, key, given) => (await scheduleChanges.create(services, key, given)).view,
  }),
  ...changeEndpoints(schedule),
};
