import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "@playwright/test";
import { DOMAIN } from "./fixtures";

/** An organization of one test, for what changes its people or needs it empty. */
export type OwnOrganization = {
  owner: { email: string; password: string };
  /** Declares its agents, as YAML. */
  declareAgents: (agents: string) => void;
};

/** Creates one with an owner and nothing else, with the operator's command line. */
export function createOwnOrganization(name: string): OwnOrganization {
  const slug = `${name}-${Date.now().toString(36)}${test.info().workerIndex}`;
  const owner = { email: `${slug}@${DOMAIN}`, password: "correct-horse-battery" };
  const folder = process.env.STEPWELL_E2E_DATA ?? "";
  const declareAgents = (agents: string) => {
    const file = join(folder, `${slug}.yaml`);
    const members = `[{ email: ${owner.email}, password: ${owner.password}, name: Pat, role: owner }]`;
    writeFileSync(
      file,
      `organizations:\n  - { slug: ${slug}, name: Own, credits: 100, members: ${members}, agents: ${agents} }`,
    );
    const env = { ...process.env, STEPWELL_DATA_DIR: folder };
    execFileSync(process.execPath, ["scripts/stepwell.mjs", "apply", file], { env });
  };
  declareAgents("[]");
  return { owner, declareAgents };
}
