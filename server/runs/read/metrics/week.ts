import type { MemberActor } from "@/server/auth/actor";
import type { Services } from "@/server/services";
import { add, emptySum, type RunFigures, viewFigures } from "./figures";
import { type MetricsSubject, readParts } from "./metrics";

const DAY_MS = 86_400_000;
const DAYS = 7;

/** The runs of the last seven UTC days, today included: figures of all, and runs and failures of each day. */
export type WeekFigures = RunFigures & { days: { runs: number; failed: number }[] };

/** The figures of the last seven days by agent, tool or trigger; those without a run are missing. */
export async function readWeek(
  services: Services,
  actor: MemberActor,
  dimension: MetricsSubject["dimension"],
): Promise<Map<string, WeekFigures>> {
  const to = Math.ceil((services.clock.now().getTime() + 1) / DAY_MS) * DAY_MS;
  const from = to - DAYS * DAY_MS;
  const parts = await readParts(services, actor, {
    from: new Date(from),
    to: new Date(to),
    bucketMs: DAY_MS,
  });
  const sums = new Map<string, { all: ReturnType<typeof emptySum>; days: WeekFigures["days"] }>();
  for (const part of parts) {
    if (part.dimension !== dimension) continue;
    const sum = sums.get(part.subjectId) ?? {
      all: emptySum(),
      days: Array.from({ length: DAYS }, () => ({ runs: 0, failed: 0 })),
    };
    sums.set(part.subjectId, sum);
    add(sum.all, part);
    const day = sum.days[part.bucket];
    if (!day) continue;
    day.runs += part.runs;
    day.failed += part.failed;
  }
  return new Map([...sums].map(([id, { all, days }]) => [id, { ...viewFigures(all), days }]));
}
