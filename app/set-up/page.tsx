import type { Metadata } from "next";
import { PlainPage } from "@/app/_ui/page/plain-page";
import { SetUp } from "./set-up";

export const metadata: Metadata = { title: "Set up" };

/** The page of the set-up link that the first start prints. Its token is in the fragment, which browsers do not send. */
export default function SetUpPage() {
  return (
    <PlainPage isLong>
      <SetUp />
      <noscript>
        <p>This page needs JavaScript.</p>
      </noscript>
    </PlainPage>
  );
}
