import clsx from "clsx";
import type { ReactNode } from "react";
import { formatCredits } from "@/app/_ui/figures/format";
import { Ago } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import type {
  ModelProviders,
  OwnProviderSummary,
  PricedModel,
} from "@/server/catalog/organization/list-model-providers";

/** One of the organization's own providers: where it is, its key, and its models with their prices. */
export function OwnProviderPart({ own, children }: { own: OwnProviderSummary; children: ReactNode }) {
  const { provider, models } = own;
  return (
    <Part actions={children} models={models} name={provider.name}>
      <span className="mono [overflow-wrap:anywhere]">{provider.baseUrl}</span>
      <Key of={own.key} />
      <span>only this organization</span>
    </Part>
  );
}

const KEY_STATES = {
  set: null,
  missing: { label: "has no value yet", className: "text-waiting" },
  expired: { label: "has expired", className: "text-failed" },
};

function Key({ of: key }: { of: OwnProviderSummary["key"] }) {
  if (key === null) return <span>no key</span>;
  const state = KEY_STATES[key.state];
  return (
    <span>
      key{" "}
      <Link className="text-ink underline" href="/secrets">
        {key.name}
      </Link>{" "}
      {state ? (
        <span className={state.className}>{state.label}</span>
      ) : key.lastUsedAt ? (
        <>
          used <Ago at={key.lastUsedAt} />
        </>
      ) : (
        "never used"
      )}
    </span>
  );
}

/** A provider that the operator configured. The default one also serves every model that nobody lists. */
export function ServiceProviderPart({
  provider: { name, isDefault, models },
  defaultPrice,
}: {
  provider: ModelProviders["service"][number];
  defaultPrice: ModelProviders["defaultPrice"];
}) {
  const isDemo = name === "demo";
  return (
    <Part
      free={isDemo}
      models={isDefault ? [...models, { name: null, ...defaultPrice }] : models}
      name={name}
    >
      {isDemo ? <span>the built-in simulation</span> : null}
      {isDefault ? <span>the default provider</span> : null}
      <span>every organization</span>
    </Part>
  );
}

function Part({
  name,
  models,
  free = false,
  actions,
  children,
}: {
  name: string;
  /** Whether its tokens cost nothing, whatever the price list says. */
  free?: boolean;
  /** Without a name: any model that is not listed. */
  models: (Omit<PricedModel, "name"> & { name: string | null })[];
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={name} className="pb-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-line border-t px-4 py-2 sm:px-6">
        <div className="min-w-0 flex-1">
          <h3 className="font-medium">{name}</h3>
          <p className="flex flex-wrap gap-x-3 text-muted text-xs">{children}</p>
        </div>
        <div className="flex items-center gap-1">{actions}</div>
      </div>
      <Table className="table-fixed" label={`Models of ${name}`}>
        <thead>
          <tr>
            <HeadCell>Model</HeadCell>
            <HeadCell className="w-24 text-right sm:w-32">Input</HeadCell>
            <HeadCell className="w-24 text-right sm:w-32">Output</HeadCell>
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <tr key={model.name ?? ""}>
              <Cell className={clsx("[overflow-wrap:anywhere]", model.name === null ? "text-muted" : "mono")}>
                {model.name ?? "Any other model"}
              </Cell>
              <Cell className="text-right">{free ? "free" : formatCredits(model.input)}</Cell>
              <Cell className="text-right">{free ? "free" : formatCredits(model.output)}</Cell>
            </tr>
          ))}
        </tbody>
      </Table>
    </section>
  );
}
