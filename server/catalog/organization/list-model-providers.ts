import type { Actor } from "@/server/base/actor";
import { toPlainData } from "@/server/base/db/plain-data";
import type { Services } from "@/server/catalog/services";
import { keySecretOf, type OwnProvider } from "@/server/work/models/own-provider";
import { listAgentModels } from "../agent-rows";
import { findCallsOf } from "../stored-tool";
import { findTools, toolLine } from "../tool-rows";
import { describeModel } from "./describe-model";
import { readOwnProviders } from "./model-providers";
import { stateOfSecret } from "./secrets";

export type ModelProviders = Awaited<ReturnType<typeof listModelProviders>>;
export type OwnProviderSummary = ModelProviders["own"][number];
export type PricedModel = OwnProviderSummary["models"][number];

/**
 * The organization's own providers and the operator's, with each model's price in credits per 1,000 tokens and its
 * number of agents. `others` are models that no provider lists. A `key` of null: the provider needs none.
 */
export async function listModelProviders(services: Services, actor: Actor) {
  const { db, models, prices, clock } = services;
  const own = await readOwnProviders(db, actor.orgId);
  const secrets = await db.secret.findMany({ where: { organizationId: actor.orgId } });
  const agentModels = await listAgentModels(services.pool, actor.orgId);
  const agents = countAgents(agentModels);
  const describe = async (name: string, of?: OwnProvider) => ({
    ...(await describeModel(services, { name }, of)),
    agents: agents.get(name) ?? 0,
  });
  const taken = new Set(own.flatMap((provider) => provider.models));
  const others = [...new Set([...models.listed, ...Object.keys(prices.models)])].filter(
    (model) => !taken.has(model),
  );
  // No provider lists the empty name: the default one serves it.
  const fallback = models.providerOf("");
  const names = new Set([fallback, ...others.map(models.providerOf)]);
  const listed = new Set([...taken, ...others]);
  const ownModels = await Promise.all(
    own.map((provider) => Promise.all(provider.models.map((model) => describe(model, provider)))),
  );
  const otherModels = await Promise.all(others.map((model) => describe(model)));
  return {
    own: own.map((provider, index) => {
      const key = secrets.find(({ name }) => name === keySecretOf(provider));
      return {
        provider,
        models: ownModels[index] ?? [],
        key: key
          ? {
              ...toPlainData({ name: key.name, lastUsedAt: key.lastUsedAt }),
              state: stateOfSecret(key, clock.now()),
            }
          : null,
      };
    }),
    service: [...names].map((name) => ({
      name,
      isDefault: name === fallback,
      models: otherModels.filter((model) => models.providerOf(model.name) === name),
    })),
    others: {
      ...(await describeModel(services, { name: "" })),
      agents: agentModels.filter((agent) => modelsOf(agent).some((model) => !listed.has(model))).length,
    },
  };
}

type NamedModels = { model: string; fallbackModels: readonly string[] };

const modelsOf = ({ model, fallbackModels }: NamedModels) => [model, ...fallbackModels];

/** The number of agents that name each model in their current version, also as a fallback. */
export function countAgents(agents: readonly NamedModels[]): Map<string, number> {
  const counts = new Map<string, number>();
  // An agent may name its own model as a fallback, too.
  for (const model of agents.flatMap((agent) => [...new Set(modelsOf(agent))]))
    counts.set(model, (counts.get(model) ?? 0) + 1);
  return counts;
}

/** The agents and tools that name a model of the provider in their current version, also as a fallback, by name. */
export async function listProviderUsers(
  { db, pool }: Pick<Services, "db" | "pool">,
  actor: Actor,
  { name }: { name: string },
) {
  const provider = (await readOwnProviders(db, actor.orgId)).find((each) => each.name === name);
  if (provider === undefined) return [];
  const served = new Set<unknown>(provider.models);
  const agents = await listAgentModels(pool, actor.orgId);
  const tools = await findTools(pool, actor.orgId, {
    text: '"generate_text"',
    fits: (definition) =>
      findCallsOf("generate_text", definition).some(({ with: { model, fallbackModels } }) =>
        [model, fallbackModels].flat().some((each) => served.has(each)),
      ),
  });
  return [
    ...agents
      .filter((agent) => modelsOf(agent).some((model) => served.has(model)))
      .map(({ id, name }) => ({ kind: "agent" as const, id, name })),
    ...tools.map(toolLine),
  ];
}
