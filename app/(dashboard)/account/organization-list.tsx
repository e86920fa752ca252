"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { useOtherOrganization } from "@/app/_ui/data/connection";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { Badge } from "@/app/_ui/row-name";
import { ROLE_LABELS, ROLE_PERMISSIONS } from "../members/roles";
import { useSwitchOrganization } from "../use-switch-organization";

export function OrganizationList() {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.account.organizations.queryOptions());
  const change = useSwitchOrganization();
  const shown = data.find(({ active }) => active)?.id;
  const current = useOtherOrganization() ?? shown;
  return (
    <section aria-label="Your organizations" className="min-w-0 max-xl:border-line max-xl:border-t">
      <PartHead title="Your organizations" />
      <ul className="border-line border-t">
        {data.map(({ id, name, role }) => (
          <li className="flex items-center gap-3 border-line border-b px-4 py-2 sm:px-6" key={id}>
            <div className="min-w-0 flex-1">
              <p className="flex min-w-0 items-center gap-2">
                <span className="truncate font-medium">{name}</span>
                {id === current ? <Badge>active</Badge> : null}
              </p>
              <p className="text-muted text-xs">
                {ROLE_LABELS[role]} · {ROLE_PERMISSIONS[role]}
              </p>
            </div>
            {id === current ? null : (
              <Button
                aria-label={`Switch to ${name}`}
                disabled={change.isPending}
                look="quiet"
                onClick={() => change.mutate({ organizationId: id })}
              >
                Switch
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
