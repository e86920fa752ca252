import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "@playwright/test";
import { DOMAIN, type Organization } from "./fixtures";

/**
 * An organization for one test, for what changes its people or needs it empty: it has an owner and nothing else. Created
 * with the operator's command line.
 */
export function createOwnOrganization(name: string): Organization["owner"] {
  const slug = `${name}-${Date.now().toString(36)}${test.info().workerIndex}`;
  const owner = { email: `${slug}@${DOMAIN}`, password: "correct-horse-battery" };
  const folder = process.env.STEPWELL_E2E_DATA ?? "";
  const file = join(folder, `${slug}.yaml`);
  const members = [{ ...owner, name: "Pat", role: "owner" }];
  writeFileSync(file, JSON.stringify({ organizations: [{ slug, name: "Own", credits: 100, members }] }));
  const env = { ...process.env, STEPWELL_DATA_DIR: folder };
  execFileSync(process.execPath, ["scripts/stepwell.mjs", "apply", file], { env });
  return owner;
}
