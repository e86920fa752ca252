import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./project.mjs";

type Named = { slug: string; id: string };
/** What `apply --json` prints of an organization that it creates. */
export type AppliedOrganization = {
  slug: string;
  agents: Named[];
  tools: Named[];
  triggers: (Named & { token: string; url: string })[];
  apiKeys: { key: string }[];
};

/**
 * Applies a definition file with the command line of the checkout in `root`. The file is written to the data folder of
 * `env`.
 */
export async function applyDefinitions(
  definitions: string,
  { env, root = ROOT }: { env: NodeJS.ProcessEnv; root?: string },
): Promise<AppliedOrganization[]> {
  const file = join(env.STEPWELL_DATA_DIR ?? "", `${randomUUID()}.yaml`);
  writeFileSync(file, definitions);
  const call = ["scripts/stepwell.mjs", "apply", file, "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, call, { cwd: root, env });
  return JSON.parse(stdout).organizations;
}
