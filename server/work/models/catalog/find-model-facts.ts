import { type CatalogFile, catalogFile, type ModelFacts } from "./model-facts";

type Section = {
  hosts: readonly string[];
  names: readonly string[];
  models: ReadonlyMap<string, ModelFacts>;
};
type Catalog = { sections: readonly Section[]; all: Section["models"] };

/**
 * The catalog's facts about a model at an address; empty for an unknown one. The provider's own entry wins. At an
 * unknown address, such as a gateway's, the name decides, without vendor, variant and date.
 */
export async function findModelFacts({
  baseUrl,
  model,
}: {
  baseUrl: string;
  model: string;
}): Promise<ModelFacts> {
  const { sections, all } = await loadCatalog();
  const names = namesOf(model);
  const own = findSection(sections, baseUrl);
  return (own && findFirst(own.models, names)) ?? findFirst(all, names) ?? {};
}

export async function listCatalogModels(baseUrl: string): Promise<readonly string[]> {
  const { sections } = await loadCatalog();
  return findSection(sections, baseUrl)?.names ?? [];
}

/** The names of all models in the catalog, as providers and as gateways write them. */
export async function listAllModels(): Promise<Set<string>> {
  const { sections, all } = await loadCatalog();
  return new Set([...all.keys(), ...sections.flatMap(({ names }) => names)]);
}

function findSection(sections: readonly Section[], baseUrl: string): Section | undefined {
  const host = URL.canParse(baseUrl) ? `.${new URL(baseUrl).hostname}` : "";
  return sections.find(({ hosts }) => hosts.some((each) => host.endsWith(`.${each}`)));
}

function namesOf(model: string): string[] {
  const full = model.toLowerCase();
  const bare = full.slice(full.lastIndexOf("/") + 1);
  const [base = bare] = bare.split(/[:@]/, 1);
  return [full, bare, base, base.replace(/-\d{4}-?\d\d-?\d\d$/, "")];
}

function findFirst(models: Section["models"], names: readonly string[]): ModelFacts | undefined {
  for (const name of names) {
    const facts = models.get(name);
    if (facts !== undefined) return facts;
  }
  return undefined;
}

let loading: Promise<Catalog> | undefined;

/** Loaded at its first use, so that no process starts slower for it. */
function loadCatalog(): Promise<Catalog> {
  loading ??= import("./models.json").then(({ default: data }) => indexCatalog(catalogFile.parse(data)));
  return loading;
}

function indexCatalog({ providers }: CatalogFile): Catalog {
  const all = new Map<string, ModelFacts>();
  const sections = providers.map(({ hosts, models: given }) => {
    const models = new Map<string, ModelFacts>();
    for (const [model, facts] of Object.entries(given)) {
      const [full = "", bare = ""] = namesOf(model);
      for (const name of [full, bare]) {
        if (!models.has(name)) models.set(name, facts);
        if (!all.has(name)) all.set(name, facts);
      }
    }
    return { hosts, names: Object.keys(given), models };
  });
  return { sections, all };
}
