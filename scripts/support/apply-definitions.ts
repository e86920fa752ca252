import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

type Named = { slug: string; id: string };
export type AppliedOrganization = {
  slug: string;
  id: string;
  agents: Named[];
  tools: Named[];
  triggers: (Named & { token: string; url: string })[];
  apiKeys: { name: string; key: string }[];
};

/**
 * Applies a definition file with the command line of the checkout in `root`. The file is written to the data folder of
 * `env`. Returns what `apply --json` prints.
 */
export async function applyDefinitions(
  definitions: string,
  { env, root = "." }: { env: NodeJS.ProcessEnv; root?: string },
): Promise<AppliedOrganization[]> {
  const file = join(env.STEPWELL_DATA_DIR ?? "", "definitions.yaml");
  writeFileSync(file, definitions);
  const call = ["scripts/stepwell.mjs", "apply", file, "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, call, { cwd: root, env });
  return JSON.parse(stdout).organizations;
}
