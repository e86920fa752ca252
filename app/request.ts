import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { cache } from "react";
import { signInAddress } from "@/app/sign-in-target";
import { getServices } from "@/process-services";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { PAGE_ADDRESS_HEADER } from "@/server/api/http/api-request";
import type { MemberActor } from "@/server/base/actor";
import { newId } from "@/server/base/ids";
import { type Session, sessionFromHeaders } from "@/server/catalog/auth/sessions";
import { isOperator } from "@/server/catalog/organization/operators";

type MemberSession = Extract<Session, { member: MemberActor }>;

/** The session of the current request, read once. */
export const readSession = cache(
  async (): Promise<Session | null> => sessionFromHeaders(getServices(), await headers()),
);

/** Returns true if the page was reached by a link within the dashboard rather than by its URL. */
export async function arrivedByLink(): Promise<boolean> {
  return /[?&]_rsc=/.test((await headers()).get(PAGE_ADDRESS_HEADER) ?? "");
}

/** The signed-in member for a page. Redirects others to the sign-in page, which leads back. */
export async function requirePageMember(): Promise<{ session: MemberSession; actor: MemberActor }> {
  const session = await readSession();
  if (!session) redirect(signInAddress((await headers()).get(PAGE_ADDRESS_HEADER)));
  if (!session.member) redirect("/no-organization");
  return { session, actor: session.member };
}

/** Returns true if the signed-in member is an operator of the installation. */
export const readIsOperator = cache(async (): Promise<boolean> => {
  const { actor } = await requirePageMember();
  return isOperator(getServices(), actor.userId);
});

/** The context of the dashboard's procedures for calls without HTTP. */
export async function pageContext() {
  const { session, actor } = await requirePageMember();
  const { sessionId } = session.user;
  return { services: getServices(), actor, requestId: newId(), sessionId };
}

/** The dashboard's procedures, called from a server component without HTTP. */
export const serverApi = cache(async () => createDashboardCaller(await pageContext()));
