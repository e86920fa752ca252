"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { lazy } from "@/app/_ui/lazy";
import { MenuItem, MenuSeparator, MoreMenu } from "@/app/_ui/menu/menu";
import { PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import { useDialog } from "@/app/_ui/use-dialog";
import type { OwnProvider } from "@/server/work/models/own-provider";
import { KNOWN_SERVICES, type KnownService } from "./provider-draft";
import { OwnProviderPart, ServiceProviderPart } from "./provider-parts";

const ProviderForm = lazy(() => import("./provider-dialogs"), "ProviderForm");
const TestProvider = lazy(() => import("./provider-dialogs"), "TestProvider");
const RemoveProvider = lazy(() => import("./provider-dialogs"), "RemoveProvider");

export function ModelsView() {
  const trpc = useTRPC();
  const mayChange = useMay("admin");
  const { data } = useSuspenseQuery(trpc.models.list.queryOptions());
  const { dialog, open } = useDialog();
  const openTest = (provider: OwnProvider, isNew: boolean) =>
    open(<TestProvider isNew={isNew} provider={provider} />);
  const openForm = (replaces: OwnProvider | null, service: KnownService | null = null) =>
    open(
      <ProviderForm
        onCreated={(provider) => openTest(provider, true)}
        replaces={replaces}
        service={service}
      />,
    );
  return (
    <>
      <PageHead title="Model providers">
        <PageButton
          label="New provider"
          needs="admin"
          otherwise="Admins and owners create and change model providers."
          to={() => openForm(null)}
        />
      </PageHead>
      <section aria-label="Your organization's providers" className="border-line border-t">
        <PartHead title="Your providers">
          <span className="text-muted">Only this organization uses them</span>
        </PartHead>
        {data.own.length === 0 ? (
          <NoProviders onConnect={mayChange ? (service) => openForm(null, service) : null} />
        ) : (
          data.own.map((own) => (
            <OwnProviderPart key={own.provider.name} own={own}>
              {mayChange ? (
                <>
                  <Button onClick={() => openTest(own.provider, false)}>Test</Button>
                  <MoreMenu label={`Actions for ${own.provider.name}`}>
                    <MenuItem onClick={() => openForm(own.provider)}>Edit</MenuItem>
                    <MenuSeparator />
                    <MenuItem danger onClick={() => open(<RemoveProvider provider={own.provider} />)}>
                      Remove
                    </MenuItem>
                  </MoreMenu>
                </>
              ) : null}
            </OwnProviderPart>
          ))
        )}
      </section>
      <section aria-label="Providers of this service">
        <PartHead title="Providers of this service">
          <span className="text-muted">Set up by the operator</span>
        </PartHead>
        {data.service.map((provider) => (
          <ServiceProviderPart key={provider.name} others={data.others} provider={provider} />
        ))}
      </section>
      <p className="border-line border-t px-4 py-3 text-muted text-xs sm:px-6">
        Prices are in credits per 1,000 tokens; the operator sets them. An agent names a model, and the
        provider that lists it answers.
      </p>
      {dialog}
    </>
  );
}

function NoProviders({ onConnect }: { onConnect: ((service: KnownService | null) => void) | null }) {
  return (
    <div className="border-line border-t px-4 py-5 sm:px-6">
      <h3 className="font-medium">No providers of your own yet</h3>
      <p className="mt-1 max-w-3xl text-muted">
        Connect a service with your own account. You need an API key and the names of the models that your
        agents should use.
      </p>
      {onConnect === null ? null : (
        <div className="mt-3 flex flex-wrap gap-2">
          {KNOWN_SERVICES.map((service) => (
            <Button key={service.name} onClick={() => onConnect(service)}>
              {service.title}
            </Button>
          ))}
          <Button onClick={() => onConnect(null)}>Another service</Button>
        </div>
      )}
    </div>
  );
}
