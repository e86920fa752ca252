import type { Metadata } from "next";
import { PlainPage } from "@/app/_ui/page/plain-page";
import { ResetPassword } from "./reset-password";

export const metadata: Metadata = { title: "New password" };

/** The page of a link for a new password. Its token is in the fragment, which browsers do not send. */
export default function ResetPasswordPage() {
  return (
    <PlainPage>
      <ResetPassword />
      <noscript>
        <p>This page needs JavaScript.</p>
      </noscript>
    </PlainPage>
  );
}
