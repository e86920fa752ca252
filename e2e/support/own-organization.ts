import { randomBytes } from "node:crypto";
import { applyDefinitions } from "@/testing/services/service-process";
import { DOMAIN, type Organization, PASSWORD } from "./fixtures";

/** Organizations per command, because starting it takes longer than creating them. */
const BATCH = 4;
const STEPS = [{ id: "one", uses: "calculate", with: { expression: "1" } }];
const unused: Organization["owner"][] = [];

/** Creates an organization with an owner and nothing else, for a test that changes its people or needs it empty. */
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
  await applyDefinitions(JSON.stringify({ organizations }), { env: commandEnv() });
  return owners;
}

/** Creates the owner of North, which has the tool Compass. They view South, too. Their sign-in opens North. */
export async function createMemberOfTwo(): Promise<Organization["owner"]> {
  const batch = randomBytes(4).toString("hex");
  const person = { email: `two-${batch}@${DOMAIN}`, password: PASSWORD };
  const tool = { slug: "compass", name: "Compass", description: "Knows where North is.", steps: STEPS };
  const organizations = [
    { name: "North", role: "owner", tools: [tool] },
    { name: "South", role: "viewer", tools: [] },
  ].map(({ name, role, tools }) => ({
    slug: `${name.toLowerCase()}-${batch}`,
    name,
    credits: 100,
    members: [{ ...person, name: "Pat", role }],
    tools,
  }));
  await applyDefinitions(JSON.stringify({ organizations }), { env: commandEnv() });
  return person;
}

const commandEnv = () => ({ ...process.env, STEPWELL_DATA_DIR: process.env.STEPWELL_E2E_DATA });
