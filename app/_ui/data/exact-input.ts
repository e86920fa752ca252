import type { TRPCLink } from "@trpc/client";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import { toSent } from "@/server/base/json/sent";

/** Sends an input with numbers that JSON.stringify cannot write as a JSON text, which `memberProcedure` reads. */
export const exactInput: TRPCLink<DashboardRouter> =
  () =>
  ({ op, next }) =>
    next({ ...op, input: toSent(op.input) });
