import clsx from "clsx";
import type { ReactNode } from "react";
import { formatCredits, formatUsed } from "@/app/_ui/figures/format";
import { Ago } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { Badge, Cell, HeadCell, Table } from "@/app/_ui/table";
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
      <p className="mono [overflow-wrap:anywhere]">{provider.baseUrl}</p>
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

/** A provider that the operator configured. The default one also serves every model that nobody lists. */
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
      models={isDefault ? [...models, { name: null, ...others }] : models}
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
  /** Whether its tokens cost nothing, whatever the price list contains. */
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
      <Table className="table-fixed self-start lg:border-t-0" label={`Models of ${name}`}>
        <thead>
          <tr>
            <HeadCell>Model</HeadCell>
            <HeadCell className="w-[4.5rem] text-right sm:w-32">Input</HeadCell>
            <HeadCell className="w-[4.5rem] text-right sm:w-32">Output</HeadCell>
            <HeadCell className="w-16 text-right sm:w-28">Agents</HeadCell>
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <tr key={model.name ?? ""}>
              <Cell className={clsx("[overflow-wrap:anywhere]", model.name === null ? "text-muted" : "mono")}>
                {model.name ?? "Any other model"}
              </Cell>
              <Price free={free}>{model.input}</Price>
              <Price free={free}>{model.output}</Price>
              <Cell className="text-right tabular-nums">{formatUsed(model.agents)}</Cell>
            </tr>
          ))}
        </tbody>
      </Table>
    </section>
  );
}

function Price({ free, children }: { free: boolean; children: string }) {
  return (
    <Cell className={clsx("text-right tabular-nums", free && "text-muted")}>
      {free ? "Free" : formatCredits(children)}
    </Cell>
  );
}
