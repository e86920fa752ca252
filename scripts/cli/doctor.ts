import { examine } from "@/server/operate/doctor/doctor";
import { declareCommand, flag } from "./command";
import { toPrintable } from "./printable";

/** Checks the installation, and names the way out of each issue. */
export const doctorCommand = declareCommand({
  name: "doctor",
  summary: "Check the installation; the exit code is 1 when something fails",
  options: { json: flag("one JSON object") },
  needs: "nothing",
  async run({ services, terminal }, _args, { json }) {
    const checks = await examine(services, { names: true });
    const isSound = checks.every(({ level }) => level !== "fail");
    const lines = checks.map(({ level, what, text }) => `${level.padEnd(4)}  ${what.padEnd(10)}  ${text}`);
    terminal.out(json ? JSON.stringify({ ok: isSound, checks }) : toPrintable(lines.join("\n")));
    return isSound && "";
  },
});
