import { runCommandLine } from "@/scripts/cli/command-line";
import type { Services } from "@/server/services";

/** Runs the operator's command line in this process and answers what it asks for. */
export async function callCommandLine(
  services: Services,
  argv: string[],
  { password = "", line = "", secret = "" } = {},
): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: "", err: "" };
  const terminal = {
    out: (text: string) => {
      printed.out += `${text}\n`;
    },
    err: (text: string) => {
      printed.err += `${text}\n`;
    },
    readPassword: async () => password,
    readLine: async () => line,
    readSecret: async () => secret,
  };
  const code = await runCommandLine(argv, terminal, () => services);
  return { code, ...printed };
}
