import { describeOutage } from "@/server/base/db/outage";
import { declareCommand, flag } from "../command";
import { CHECKS } from "./checks";
import { type Finding, fail } from "./finding";
import { checkSettings } from "./settings";

/** Checks the installation, and names the way out of each issue. */
export const doctorCommand = declareCommand({
  name: "doctor",
  summary: "Check the installation; the exit code is 1 when something fails",
  options: { json: flag("one JSON object") },
  needs: "nothing",
  async run({ services, terminal }, _args, { json }) {
    const failed = (error: unknown) =>
      fail(describeOutage(error)?.text ?? (error instanceof Error ? error.message : String(error)));
    const checks: (Finding & { what: string })[] = [];
    for (const [what, check] of Object.entries(CHECKS)) {
      // Without the database, the others would only repeat that.
      if (checks.some((known) => known.what === "database" && known.level === "fail") && what !== "disk")
        continue;
      checks.push({ what, ...(await check(services).catch(failed)) });
    }
    checks.push(...(await checkSettings(services)));
    const isSound = checks.every(({ level }) => level !== "fail");
    const lines = checks.map(({ level, what, text }) => `${level.padEnd(4)}  ${what.padEnd(10)}  ${text}`);
    terminal.out(json ? JSON.stringify({ ok: isSound, checks }) : lines.join("\n"));
    return isSound && "";
  },
});
