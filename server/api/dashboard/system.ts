import { z } from "zod";
import { operatorProcedure, router } from "@/server/api/trpc";
import { AppError } from "@/server/base/errors";
import { readExamination } from "@/server/operate/doctor/doctor";
import { executeJobNow } from "@/server/operate/maintenance";
import { readDatabaseSize } from "@/server/operate/system/database-size";
import { readSignIns } from "@/server/operate/system/sign-ins";
import { readSystemStatus } from "@/server/operate/system/status";

/** The page System. Its procedures tell nothing of organizations besides counts. */

const operator = operatorProcedure();
// Checks may call an Inngest server, and a job may take minutes.
const patientOperator = operatorProcedure({ waitsOutside: true });

export const systemRouter = router({
  status: operator.query(({ ctx }) => readSystemStatus(ctx.services)),
  database: operator.query(({ ctx }) => readDatabaseSize(ctx.services)),
  signIns: operator.query(({ ctx }) => readSignIns(ctx.services)),
  doctor: patientOperator.query(({ ctx }) => readExamination(ctx.services)),
  runDoctor: patientOperator.mutation(({ ctx }) => readExamination(ctx.services, { fresh: true })),
  runJob: patientOperator
    .input(z.object({ name: z.string().max(64) }))
    .mutation(async ({ ctx: { services, actor }, input: { name } }) => {
      services.log.info("An operator runs a maintenance job", { job: name, userId: actor.userId });
      const done = await executeJobNow(services, name);
      if (done === null) throw new AppError("not_found", "There is no such job.");
      return done === "busy"
        ? { failed: false, text: "Another process does it at this moment" }
        : { failed: done.failed, text: done.text };
    }),
});
