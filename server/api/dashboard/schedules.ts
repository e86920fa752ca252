import { z } from "zod";
import { memberProcedure, router, startProcedure } from "@/server/api/trpc";
import { removeDefinition } from "@/server/catalog/archive";
import { REPLACES } from "@/server/catalog/change";
import { scheduleDefinition, slug } from "@/server/catalog/definitions";
import {
  inspectSchedule,
  listSchedules,
  listTicks,
  previewTimes,
  runScheduleNow,
} from "@/server/catalog/schedules/inspect-schedules";
import { saveSchedule, setSchedulePaused } from "@/server/catalog/schedules/save-schedule";
import { idInput } from "@/server/contract/ids";
import { checkedInput, mutation, pageInput, resolver, starter } from "./procedures";

const viewer = memberProcedure("viewer");
const member = memberProcedure("member");
const schedule = z.object({ scheduleId: idInput() });

export const schedulesRouter = router({
  list: viewer.query(resolver(listSchedules)),
  inspect: viewer.input(schedule).query(resolver(inspectSchedule)),
  ticks: viewer.input(schedule.extend(pageInput(z.iso.datetime()))).query(resolver(listTicks)),
  preview: viewer
    .input(z.object({ cron: z.string().max(200), timeZone: z.string().max(100) }))
    .query(resolver(previewTimes)),

  create: member
    .input(checkedInput(scheduleDefinition))
    .mutation(({ ctx, input }) =>
      saveSchedule(ctx.services, ctx.actor, { definition: input, only: "create" }),
    ),
  /** The slug names the schedule. */
  update: member
    .input(checkedInput(scheduleDefinition.safeExtend(REPLACES)))
    .mutation(({ ctx, input: { replaces, ...definition } }) =>
      saveSchedule(ctx.services, ctx.actor, { definition, only: "update", replaces }),
    ),
  setPaused: mutation(setSchedulePaused),
  runNow: startProcedure.input(schedule).mutation(starter(runScheduleNow)),
  remove: member
    .input(z.object({ slug }))
    .mutation(({ ctx, input }) =>
      removeDefinition(ctx.services, ctx.actor, { kind: "schedule", slug: input.slug }),
    ),
});
