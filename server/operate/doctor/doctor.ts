import { describeOutage } from "@/server/base/db/outage";
import { perOwner } from "@/server/base/per-owner";
import type { Services } from "@/server/services";
import { CHECKS, type CheckOptions } from "./checks";
import { fail, type Judged } from "./finding";
import { checkSettings } from "./settings";

/** Checks the installation. Each finding that is not ok names the way out. */
export async function examine(services: Services, options: CheckOptions): Promise<Judged[]> {
  const failed = (error: unknown) =>
    fail(describeOutage(error)?.text ?? (error instanceof Error ? error.message : String(error)));
  const checks: Judged[] = [];
  for (const [what, check] of Object.entries(CHECKS)) {
    // Without the database, the others would only repeat that.
    if (checks.some((known) => known.what === "database" && known.level === "fail") && what !== "disk")
      continue;
    checks.push({ what, ...(await check(services, options).catch(failed)) });
  }
  return [...checks, ...(await checkSettings(services))];
}

// A page that is open does not make the service check itself more often.
const VALID_MS = 15 * 60_000;

export type Examination = { at: string; findings: Judged[] };

const examinationsOf = perOwner((services: Services) => {
  let latest: Promise<Examination> | null = null;
  let startedAt = 0;
  return (fresh: boolean): Promise<Examination> => {
    const now = services.clock.monotonicMs();
    if (latest === null || fresh || now - startedAt > VALID_MS) {
      startedAt = now;
      latest = examine(services, { names: false }).then(
        (findings) => ({ at: services.clock.now().toISOString(), findings }),
        (error: unknown) => {
          latest = null;
          throw error;
        },
      );
    }
    return latest;
  };
});

/** The findings of `doctor`, at most 15 minutes old unless `fresh`, without names of organizations' things. */
export function readExamination(services: Services, { fresh = false } = {}): Promise<Examination> {
  return examinationsOf(services)(fresh);
}
