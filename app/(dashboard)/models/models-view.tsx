"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { MoreIcon } from "@/app/_ui/icons";
import { Menu, MenuItem, MenuSeparator } from "@/app/_ui/menu/menu";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-button";
import { useMay } from "@/app/_ui/role";
import type { OwnProvider } from "@/server/models/own-provider";
import { OwnProviderPart, ServiceProviderPart } from "./provider-parts";

const ProviderForm = dynamic(() => import("./provider-form").then((part) => part.ProviderForm), {
  ssr: false,
});
const TestProvider = dynamic(() => import("./test-provider").then((part) => part.TestProvider), {
  ssr: false,
});
const RemoveProvider = dynamic(() => import("./remove-provider").then((part) => part.RemoveProvider), {
  ssr: false,
});

type Opened =
  | { act: "create" }
  | { act: "edit" | "remove"; provider: OwnProvider }
  | { act: "test"; provider: OwnProvider; isNew: boolean };

/** Who serves the organization's models, at which prices; administrators create and change its own providers here. */
export function ModelsView() {
  const trpc = useTRPC();
  const mayChange = useMay("admin");
  const { data } = useSuspenseQuery(trpc.models.list.queryOptions());
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = () => setOpened(null);
  const newProvider = {
    label: "New provider",
    needs: "admin",
    to: () => setOpened({ act: "create" }),
  } as const;
  return (
    <>
      <PageHead title="Model providers">
        <PageButton {...newProvider} otherwise="Admins and owners create and change model providers." />
      </PageHead>
      <p className="max-w-3xl px-4 pb-3 text-muted sm:px-6">
        An agent names a model; the provider that lists it answers. Prices are in credits per 1,000 tokens,
        and the operator of this service sets them.
      </p>
      <section aria-label="Your organization's providers" className="border-line border-t">
        <PartHead title="Your providers" />
        {data.own.length === 0 ? (
          <Empty title="No providers of your own yet">
            <p>
              Connect any OpenAI-compatible service with your own account: OpenAI, OpenRouter, Mistral, Groq,
              vLLM and others. You need its base URL, an API key and the names of its models. Only this
              organization uses it.
            </p>
            <PageButton {...newProvider} />
          </Empty>
        ) : (
          data.own.map((own) => (
            <OwnProviderPart key={own.provider.name} own={own}>
              {mayChange ? (
                <>
                  <Button onClick={() => setOpened({ act: "test", provider: own.provider, isNew: false })}>
                    Test
                  </Button>
                  <Menu
                    label={`Actions for ${own.provider.name}`}
                    trigger={<MoreIcon />}
                    triggerClass="flex size-8 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
                  >
                    <MenuItem onClick={() => setOpened({ act: "edit", provider: own.provider })}>
                      Edit
                    </MenuItem>
                    <MenuSeparator />
                    <MenuItem danger onClick={() => setOpened({ act: "remove", provider: own.provider })}>
                      Remove
                    </MenuItem>
                  </Menu>
                </>
              ) : null}
            </OwnProviderPart>
          ))
        )}
      </section>
      <section aria-label="Providers of this service">
        <PartHead title="Providers of this service" />
        {data.service.map((provider) => (
          <ServiceProviderPart defaultPrice={data.defaultPrice} key={provider.name} provider={provider} />
        ))}
      </section>
      {opened?.act === "create" || opened?.act === "edit" ? (
        <ProviderForm
          onClose={close}
          onCreated={(provider) => setOpened({ act: "test", provider, isNew: true })}
          replaces={opened.act === "edit" ? opened.provider : null}
        />
      ) : null}
      {opened?.act === "test" ? (
        <TestProvider isNew={opened.isNew} onClose={close} provider={opened.provider} />
      ) : null}
      {opened?.act === "remove" ? <RemoveProvider onClose={close} provider={opened.provider} /> : null}
    </>
  );
}
