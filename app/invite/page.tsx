import type { Metadata } from "next";
import { StepwellMark } from "@/app/_ui/icons";
import { readSession } from "@/app/request";
import { Invitation } from "./invitation";

export const metadata: Metadata = { title: "Invitation" };

/** The page of an invitation's link. Its token is in the fragment, which browsers do not send. */
export default async function InvitePage() {
  const session = await readSession();
  return (
    <main className="flex min-h-dvh flex-col px-6 pt-[14vh] sm:items-center">
      <div className="w-full max-w-[24rem]">
        <div className="mb-8 flex items-center gap-2.5">
          <StepwellMark className="text-accent" />
          <span className="font-semibold text-base">Stepwell</span>
        </div>
        <Invitation signedInAs={session?.user.email ?? null} />
        <noscript>
          <p>This page needs JavaScript.</p>
        </noscript>
      </div>
    </main>
  );
}
