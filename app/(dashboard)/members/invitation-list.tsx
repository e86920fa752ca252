"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { Day } from "@/app/_ui/figures/time";
import { lazy } from "@/app/_ui/lazy";
import { List, ListCell, ListRow } from "@/app/_ui/table";
import { ROLE_LABELS } from "@/app/(dashboard)/members/roles";
import type { InvitationLine } from "@/server/catalog/organization/invitations";

const RevokeInvitation = lazy(() => import("./member-dialogs"), "RevokeInvitation");

const COLUMNS = [
  ["Invited"],
  ["Role", "w-24"],
  ["Invited by", "w-[28%] max-lg:hidden"],
  ["Link works until", "w-40"],
  ["", "w-24"],
] as const;

/** The invitations that nobody has used yet; nothing if there are none. */
export function InvitationList() {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.members.invitations.queryOptions());
  const [revoking, setRevoking] = useState<InvitationLine | null>(null);
  if (data.length === 0) return null;
  return (
    <section aria-label="Open invitations">
      <PartHead title="Open invitations" />
      <List columns={COLUMNS} label="Open invitations">
        {data.map((invitation) => (
          <ListRow key={invitation.id}>
            <ListCell area="line">
              <span className="block truncate font-medium" title={invitation.email}>
                {invitation.email}
              </span>
            </ListCell>
            <ListCell area="share">{ROLE_LABELS[invitation.role]}</ListCell>
            <ListCell className="truncate text-muted" area="wide">
              {invitation.invitedBy}, <Day at={invitation.createdAt} />
            </ListCell>
            <ListCell className="whitespace-nowrap text-muted" area="end">
              {invitation.expired ? (
                <span className="text-failed">expired</span>
              ) : (
                <>
                  <span className="md:hidden">until </span>
                  <Day at={invitation.expiresAt} />
                </>
              )}
            </ListCell>
            <ListCell area="action">
              <Button
                aria-label={`Revoke the invitation of ${invitation.email}`}
                look="quiet"
                onClick={() => setRevoking(invitation)}
              >
                Revoke
              </Button>
            </ListCell>
          </ListRow>
        ))}
      </List>
      {revoking ? <RevokeInvitation invitation={revoking} onClose={() => setRevoking(null)} /> : null}
    </section>
  );
}
