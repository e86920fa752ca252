import { randomBytes } from "node:crypto";
import { applyDefinitions } from "@/scripts/support/service-process";
import { DOMAIN, type Organization, PASSWORD } from "./fixtures";

/** The number of organizations that one command creates: starting it takes longer than they do. */
const BATCH = 4;
/** Created by this worker and not yet used. */
const unused: Organization["owner"][] = [];

/**
 * An organization for one test, for what changes its people or needs it empty: it has an owner and nothing else. Created
 * with the operator's command line.
 */
export async function createOwnOrganization(): Promise<Organization["owner"]> {
  if (unused.length === 0) unused.push(...(await createOrganizations()));
  const owner = unused.pop();
  if (!owner) throw new Error("The command created no organization.");
  return owner;
}

async function createOrganizations(): Promise<Organization["owner"][]> {
  const batch = randomBytes(4).toString("hex");
  const slugs = Array.from({ length: BATCH }, (_, index) => `own-${batch}-${index}`);
  const owners = slugs.map((slug) => ({ email: `${slug}@${DOMAIN}`, password: PASSWORD }));
  const organizations = owners.map((owner, index) => ({
    slug: slugs[index],
    name: "Own",
    credits: 100,
    members: [{ ...owner, name: "Pat", role: "owner" }],
  }));
  const env = { ...process.env, STEPWELL_DATA_DIR: process.env.STEPWELL_E2E_DATA };
  await applyDefinitions(JSON.stringify({ organizations }), { env });
  return owners;
}
