import type { ReactNode } from "react";
import { formatCredits, formatUsed } from "@/app/_ui/figures/format";
import { Ago } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { Badge } from "@/app/_ui/row-name";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { apiOf } from "@/server/base/models/model-api";
import type {
  ModelProviders,
  OwnProviderSummary,
  PricedModel,
} from "@/server/catalog/organization/list-model-providers";
import { API_TITLES } from "./provider-draft";

/** One of the organization's own providers: where it is, its key, and its models with their prices. */
export function OwnProviderPart({ own, children }: { own: OwnProviderSummary; children: ReactNode }) {
  const { provider, models } = own;
  return (
    <Part actions={children} models={models} name={provider.name}>
      <p className="mono [overflow-wrap:anywhere]">{provider.baseUrl}</p>
      <p>{API_TITLES[apiOf(provider)]}</p>
      <Key of={own.key} />
    </Part>
  );
}

const KEY_STATES = {
  set: null,
  missing: { label: "has no value yet", className: "text-waiting" },
  expired: { label: "has expired", className: "text-failed" },
};

function Key({ of: key }: { of: OwnProviderSummary["key"] }) {
  if (key === null) return <p>Needs no key</p>;
  const state = KEY_STATES[key.state];
  return (
    <p>
      Key{" "}
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
    </p>
  );
}

/** A provider that the operator configured. The default one also serves every model that is in no list. */
export function ServiceProviderPart({
  provider: { name, isDefault, models },
  others,
}: {
  provider: ModelProviders["service"][number];
  others: ModelProviders["others"];
}) {
  const isDemo = name === "demo";
  return (
    <Part
      badge={isDefault ? "default" : null}
      free={isDemo}
      models={isDefault ? [...models, { ...others, name: null }] : models}
      name={name}
    >
      {isDemo ? <p>The built-in simulation. It answers immediately and costs nothing.</p> : null}
      {isDefault ? <p>Serves every model that no other provider lists.</p> : null}
    </Part>
  );
}

type PartProps = {
  name: string;
  badge?: string | null;
  free?: boolean;
  /** Without a name: any model that is not listed. */
  models: (Omit<PricedModel, "name"> & { name: string | null })[];
  actions?: ReactNode;
  children: ReactNode;
};

function Part({ name, models, badge = null, free = false, actions, children }: PartProps) {
  return (
    <section
      aria-label={name}
      className="border-line border-t lg:grid lg:grid-cols-[minmax(0,20rem)_minmax(0,1fr)]"
    >
      <div className="flex flex-col gap-1.5 px-4 py-4 sm:px-6 lg:border-line lg:border-r">
        <div className="flex min-h-8 items-center gap-2">
          <h3 className="min-w-0 truncate font-medium" title={name}>
            {name}
          </h3>
          {badge === null ? null : <Badge>{badge}</Badge>}
          <span className="ml-auto flex shrink-0 items-center gap-1">{actions}</span>
        </div>
        <div className="flex flex-col gap-1 text-muted">{children}</div>
      </div>
      <div className="lg:*:border-t-0">
        <LineList
          columns={modelColumns(free)}
          form="table"
          keyOf={(model) => model.name ?? ""}
          label={`Models of ${name}`}
          lines={models}
        />
      </div>
    </section>
  );
}

type Model = PartProps["models"][number];

const modelColumns = (free: boolean): LineColumn<Model>[] => [
  {
    head: "Model",
    area: "line",
    look: "wrap",
    cell: ({ name }) => (
      <span className={name === null ? "text-muted" : "mono"}>{name ?? "Any other model"}</span>
    ),
  },
  {
    head: "Context",
    title: "The most tokens of a request and its answer together",
    width: "w-28",
    area: "wider",
    look: "figure",
    cell: ({ contextWindow }) => <span className="text-muted">{formatUsed(contextWindow ?? 0)}</span>,
  },
  {
    ...PRICE,
    head: "Input",
    cell: ({ input, cachedInput }) => (
      <>
        <Price free={free}>{input}</Price>
        {free || !cachedInput ? null : (
          <span className="block text-muted text-xs md:hidden">{formatCredits(cachedInput)} cached</span>
        )}
      </>
    ),
  },
  {
    ...PRICE,
    head: "Cached",
    title: "Input that the provider read from its cache",
    area: "none",
    cell: ({ input, cachedInput }) => <Price free={free}>{cachedInput ?? input}</Price>,
  },
  { ...PRICE, head: "Output", cell: ({ output }) => <Price free={free}>{output}</Price> },
  {
    head: "Agents",
    width: "w-[4.5rem] sm:w-28",
    area: "share",
    look: "figure",
    cell: ({ agents }) => formatUsed(agents),
  },
];
const PRICE = { width: "w-[5.5rem] sm:w-28", area: "share", look: "figure" } as const;

function Price({ free, children }: { free: boolean; children: string }) {
  return free ? <span className="text-muted">Free</span> : formatCredits(children);
}
