import type { Metadata } from "next";
import { PlainPage } from "@/app/_ui/page/plain-page";
import { readSession } from "@/app/request";
import { Invitation } from "./invitation";

export const metadata: Metadata = { title: "Invitation" };

/** The page of an invitation's link. Its token is in the fragment, which browsers do not send. */
export default async function InvitePage() {
  const session = await readSession();
  return (
    <PlainPage>
      <Invitation signedInAs={session?.user.email ?? null} />
      <noscript>
        <p>This page needs JavaScript.</p>
      </noscript>
    </PlainPage>
  );
}
