import { z } from "zod";
import { defineQuery, isoDate } from "@/server/base/db/statement";
import { tryParseJson } from "@/server/base/json/json";
import { type ProcessFigures, processFigures } from "@/server/runs/engine/process-figures";
import { type ProcessSettings, processSettings } from "@/server/runs/engine/process-settings";
import { SILENT_AFTER_MS } from "@/server/runs/engine/worker";
import type { Services } from "@/server/services";

/** A running process as it reports itself. A process of an earlier version may report neither. */
export type ReportedProcess = {
  id: string;
  heartbeatAt: string;
  settings: ProcessSettings | null;
  figures: ProcessFigures | null;
};

const LIST = defineQuery(
  "list-processes",
  z.object({
    id: z.string(),
    heartbeatAt: isoDate,
    settings: z.string().nullable(),
    figures: z.string().nullable(),
  }),
  `SELECT id, heartbeat_at AS "heartbeatAt", settings, figures FROM workers
   WHERE heartbeat_at > clock_timestamp() - interval '${SILENT_AFTER_MS} milliseconds' ORDER BY id`,
);

/** The processes that reported lately, the oldest first, for `doctor` and the page System. */
export async function listProcesses({ pool }: Pick<Services, "pool">): Promise<ReportedProcess[]> {
  return (await LIST(pool)).map(({ settings, figures, ...process }) => ({
    ...process,
    settings: processSettings.safeParse(tryParseJson(settings ?? "")).data ?? null,
    figures: processFigures.safeParse(tryParseJson(figures ?? "")).data ?? null,
  }));
}

export function countSlots(processes: readonly ReportedProcess[]): { used: number; total: number } {
  const slots = processes.flatMap(({ figures }) => figures?.slots ?? []);
  return {
    used: slots.reduce((sum, { used }) => sum + used, 0),
    total: slots.reduce((sum, { total }) => sum + total, 0),
  };
}
